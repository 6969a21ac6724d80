"""Susceptibility to adversarial attacks and to random perturbations (Sutton et al., `sutton`, Section 7)."""
