"""Sutton et al. 2023 (`sutton`): theorems and experiments on random and adversarial perturbations."""
