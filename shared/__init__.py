"""The instruments of the five papers, floor by floor.

runtime, sources, units   machine, code hashes, the cache of finished work
data, similarity, models  data sets as tensors; batched SSIM; the papers' architectures
training                  recipes and the zoo of trained nets
borderline, theory, ...   one instrument each; they do not import each other
reference, records        printed values; recorded results, claims, verdicts
report, notebook          what a page shows; what every notebook starts with
"""
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
