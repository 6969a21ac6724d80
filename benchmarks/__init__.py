"""Our kernels against peers and against their floor: `make bench` (`python -m benchmarks`)."""
import time

import torch

from shared import runtime
from shared.data import sets


def best(*functions, repeats=5):
    """Shortest wall time of each function in seconds, after a call to warm up.

    The functions take turns, so that whatever else the machine does disturbs all of them alike.
    """
    for function in functions:
        function()
    times = [[] for _ in functions]
    for _ in range(repeats):
        for function, spent in zip(functions, times):
            start = time.perf_counter()
            function()
            spent.append(time.perf_counter() - start)
    return [min(spent) for spent in times]


def mnist():
    """MNIST from the data folder, else the embedded digits; never a download."""
    here = (runtime.data_folder() / "mnist.npz").is_file()
    return sets.load("mnist", profile="paper" if here else "smoke")


def repeated(images, number):
    """The first `number` images, from the start again where there are fewer."""
    return images[torch.arange(number) % len(images)]


def table(title, header, rows):
    """Print rows of strings in aligned columns, the first to the left."""
    widths = [max(map(len, column)) for column in zip(header, *rows)]
    print(f"\n{title}")
    for row in (header, *rows):
        cells = [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))]
        print("  " + "  ".join(cells).rstrip())
