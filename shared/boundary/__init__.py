"""Distances to the decision boundary in random directions, and what they tell (He et al., `he`)."""
VERSION = 1
# 1  as first recorded (but for a `top` between two steps, claimed though not tried, which no unit has)
