"""The instruments of the five papers, floor by floor: a room imports only from the floors below it.

pages                          what a notebook calls: parameters, scale, tables, figures, the look of a page
records                        what a paper's item came to: comparison with the print, claims, verdict
audit                          the papers' printed numbers against each other, one file a paper
borderline, boundary, regions, the papers' instruments; none imports another
roby, stability, theory
attacks                        threats, judge and Result; one file a family of attacks
training                       one training loop with hooks, and the zoo of kept nets
models                         registry, inference, recipes; one file a paper: its architectures and recipes
units, reference               finished pieces of work and the code that ran; the printed values
data, similarity               data sets as tensors, content hashes, files of tensors; SSIM of whole batches
runtime                        folders, files, locks, device, random generators, what a user is told
"""
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
