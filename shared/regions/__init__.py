"""Boxes of adversarial examples around an image, and what re-trained networks say inside them."""
VERSION = 2
# 1  as first recorded
# 2  intervals are ordered by their widths, no longer by the thousandth to which these round
