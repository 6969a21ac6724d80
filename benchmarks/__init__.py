"""Our kernels against peers and against their floor: `make bench` (`python -m benchmarks`).

With PROFILE=smoke all of it runs in seconds, on few images and beside the peers that are installed: what it
prints means nothing, but that it runs.
"""
import os
import statistics
import textwrap
import time
from importlib.util import find_spec

import torch

from report import registry
from shared import inference, runtime
from shared.data import sets
from shared.training.recipe import Recipe

SMOKE = os.environ.get("PROFILE") == "smoke"


def sized(full, smoke):
    """A size, or a tuple of sizes, of the benchmark: `smoke` where it is only seen that all of it runs."""
    return smoke if SMOKE else full


def installed(library):
    """Whether a peer takes part: in the full benchmark all of them do."""
    return not SMOKE or find_spec(library) is not None


TRAINING = sized(6000, 512)     # images


def seconds(function):
    """Wall time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def rounds(*functions, repeats=9):
    """Wall times in seconds, one tuple a round, after a call of each to warm up.

    In a round the functions take turns, so that whatever else the machine does disturbs all of them alike:
    factors between two of them are medians over rounds (`factor`), not ratios of two separate runs.
    """
    for function in functions:
        function()
    return [tuple(map(seconds, functions)) for _ in range(sized(repeats, 1))]


def median(values):
    return statistics.median(values)


def factor(times, floors):
    """Median over rounds of time / floor."""
    return statistics.median(t / f for t, f in zip(times, floors))


FILTERS = ("in halves", "whole", "one by one")


def filter_products(pairs, way, *, chunk=96):
    """The matrix products that the moments of SSIM of `pairs` pairs of 28 x 28 images cannot do without.

    Four maps a pair are multiplied by a banded 28 x 28 matrix on either side, `chunk` pairs at a time.
    way: "in halves"   two batched products with the halves of the matrix, less the columns that are zero:
                       what `shared.similarity` does, and the fastest known;
         "whole"       two large products with the whole matrix;
         "one by one"  image by image, as batched small products.
    """
    whole, halves = torch.full((28, 28), 1 / 28), torch.full((2, 14, 19), 1 / 19)
    maps, rows = torch.ones(2, 4 * chunk * 28, 28)
    for _ in range(round(pairs / chunk)):
        if way == "in halves":
            for images, out in ((maps, rows), (rows, maps)):
                torch.bmm(halves, images.unfold(1, 19, 9).permute(1, 2, 0), out=out.view(2, 14, -1))
        elif way == "whole":
            torch.mm(whole, maps.T, out=rows.view(28, -1))
            torch.mm(rows, whole.T, out=maps)
        else:
            whole @ (maps.view(-1, 28, 28) @ whole.T)


def trained(name, dataset, **options):
    """Net trained on about TRAINING images: the cost needs real boundaries, not the best net."""
    from shared.training.fit import fit  # the only training: the other tables need none of it

    generator = runtime.generator(0, name)
    net = registry.build(name, generator=generator, **options)
    recipe = Recipe(epochs=-(-TRAINING // len(dataset.x_train)), images=TRAINING)
    fit(net, dataset.x_train, dataset.y_train, recipe, generator=generator, device=torch.device("cpu"))
    return net.eval()


def network(name, dataset):
    """Classifier of a `trained` net."""
    return inference.classifier(trained(name, dataset))


def mnist():
    """MNIST from the data folder, else the embedded digits; never a download."""
    here = not SMOKE and (runtime.data_folder() / "mnist.npz").is_file()
    return sets.load("mnist", profile="paper" if here else "smoke")


def repeated(images, number):
    """The first `number` images, from the start again where there are fewer."""
    return images[torch.arange(number) % len(images)]


TABLES = []  # those printed so far


def table(title, header, rows, *notes):
    """Print rows of strings in aligned columns, the first to the left, `notes` below; kept in `TABLES`."""
    TABLES.append({"title": title, "header": list(header), "rows": [list(row) for row in rows],
                   "notes": notes})
    widths = [max(map(len, column)) for column in zip(header, *rows)]
    print(f"\n{title}")
    for row in (header, *rows):
        cells = [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))]
        print("  " + "  ".join(cells).rstrip())
    for note in notes:
        print(textwrap.fill(note, 110, initial_indent="  ", subsequent_indent="  "))
