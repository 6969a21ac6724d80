"""The instruments, for any model; a module imports only from those below it.

card                        a report card of any model: all of these on the same images
borderline, boundary, regions, roby, susceptibility     what a network's decision boundary is like
attacks                     threats, judge and Result; one file a family of attacks
training                    one training loop with hooks, recipes, checkpoints
inference                   asks a model: logits, labels, margins, gradients
data, similarity            data sets as tensors, content hashes; SSIM of whole batches
statistics                  intervals of shares, rank correlations
runtime                     folders, files, locks, device, random generators, what a user is told
"""
