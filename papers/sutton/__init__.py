"""Sutton et al. 2023 (`sutton`): theorems on random and adversarial perturbations, and experiments on images."""
