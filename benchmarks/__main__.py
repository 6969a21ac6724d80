"""Prints every benchmark's table: `python -m benchmarks`."""
import os
import resource
import sys

import torch

from benchmarks import algorithm_1, attacks, mnist, ssim, stability, survey, theory


def main():
    images = mnist()
    print(images.describe())
    print(f"torch {torch.__version__}, {torch.get_num_threads()} of {os.cpu_count()} cores used "
          "(OMP_NUM_THREADS sets how many)")
    ssim.run(images)
    algorithm_1.run(images)
    theory.run()
    stability.run()
    attacks.run(images)
    survey.run(images)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
    print(f"\nPeak memory of all of the above, peers included: {peak:.2f} GiB")


main()
