"""Ren, Hancock, Li (`ren`): borderline pairs by repeated mixing, and pixel pruning."""
