"""Boxes of adversarial examples around an image, and what re-trained networks say inside them."""
