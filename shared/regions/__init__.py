"""Boxes of adversarial examples around an image, and what re-trained networks say inside them."""
VERSION = 1
# 1  as first recorded
