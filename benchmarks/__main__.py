"""Every benchmark's table, printed: `python -m benchmarks [FILE]`, and kept for the book in the JSON FILE."""
import json
import os
import resource
import sys
import time
from importlib.metadata import version

import torch

from benchmarks import TABLES, algorithm_1, attacks, mnist, roby, ssim, stability, survey, sweeps, theory
from report import provenance
from shared import runtime

PEERS = ("foolbox", "torchattacks", "adversarial-robustness-toolbox", "scikit-image", "torchmetrics",
         "pytorch-msssim", "piq")


def main(file=None):
    start, images = time.perf_counter(), mnist()
    cores = f"{torch.get_num_threads()} of {os.cpu_count()} cores used"
    print(images.describe())
    print(f"torch {torch.__version__}, {cores} (OMP_NUM_THREADS sets how many)")
    parts = {}
    for part, *arguments in ((ssim, images), (algorithm_1, images), (theory,), (stability,),
                             (attacks, images), (sweeps, images), (survey, images), (roby, images)):
        before = len(TABLES)
        part.run(*arguments)
        parts[part.__name__.rpartition(".")[2]] = TABLES[before:]
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    peak = most / (2**30 if sys.platform == "darwin" else 2**20)
    print(f"\nPeak memory of all of the above, peers included: {peak:.2f} GiB")
    if file:
        results = {**provenance.here(time.perf_counter() - start, {}), "images": images.describe(),
                   "cores": cores, "peak_gib": round(peak, 2),
                "peers": {name: version(name) for name in PEERS}, "parts": parts}
        runtime.write_text(file, json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    runtime.prepare()
    main(*sys.argv[1:2])
