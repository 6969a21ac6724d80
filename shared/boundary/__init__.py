"""Distances to the decision boundary in random directions, and what they tell (He et al., `he`)."""
