"""Algorithm 1 of `ren` against its floor (forward passes, filter products) and against a loop over images."""
import time
from functools import partial

import torch
from skimage.metrics import structural_similarity

from benchmarks import FILTERS, factor, filter_products, median, network, repeated, seconds, sized, table
from shared.borderline import mix, search

DIGITS, DIGITS_LITERAL = sized((4_000, 100), (100, 2))
ITERATIONS, THRESHOLD = 9, 0.99
REPEATS = {"ren-a": 7, "ren-b": 3, "ren-c": 3}      # the shorter the search, the more a busy machine shows


def literal(classify, source, background):
    """Algorithm 1 for one image, line by line, with scikit-image's SSIM; returns the pair."""
    def similarity(a, b):
        return structural_similarity(a[0, 0].numpy(), b[0, 0].numpy(), data_range=255, gaussian_weights=True,
                                     sigma=1.5, use_sample_covariance=False)

    x_s, x_b, c_s = source, background, classify(source)
    if classify(x_b) == c_s:
        return None
    for _ in range(ITERATIONS):
        x_c = mix(x_b, x_s)
        if classify(x_c) == c_s:
            x_s = x_c
        else:
            x_b = x_c
        if similarity(x_b, x_s) > THRESHOLD:
            break
    similarity(x_s, source), similarity(x_b, source)
    return x_s, x_b


def measure(classify, digits, background, threshold, *, repeats):
    """Rounds of (seconds of the search, of its forward passes, of its filter in each of FILTERS); mixes.

    The forward passes are timed inside the search: apart from it, on a busy machine, the same passes differ
    by more than the search adds to them. The filter follows at once, in the same round.
    """
    forward = 0.0

    def timed(images):
        nonlocal forward
        start = time.perf_counter()
        classes = classify(images)
        forward += time.perf_counter() - start
        return classes

    rounds = []
    for _ in range(sized(repeats, 1)):
        start, forward = time.perf_counter(), 0.0
        pairs = search(timed, digits, background, max_iterations=ITERATIONS, threshold=threshold)
        whole, mixed = time.perf_counter() - start, int(pairs.iterations.sum())
        compared = mixed + 2 * int((~pairs.excluded).sum())       # one SSIM a mix, two of the final images
        products = [seconds(partial(filter_products, compared, way)) for way in FILTERS]
        rounds.append((whole, forward, *products))
    return rounds, mixed


def run(dataset):
    """Print the table, one row a net and stopping rule, with a white background."""
    digits = repeated(dataset.x_test, DIGITS)
    background = torch.full_like(digits[:1], 255)
    rows = []
    for name in ("ren-a", "ren-b", "ren-c"):
        classify = network(name, dataset)
        start = time.perf_counter()
        for source in digits[:DIGITS_LITERAL].split(1):
            literal(classify, source, background)
        slow = (time.perf_counter() - start) / DIGITS_LITERAL
        for threshold in (THRESHOLD, 1):
            times, mixed = measure(classify, digits, background, threshold, repeats=REPEATS[name])
            whole, forward, *filters = zip(*times)
            stop, gain = f"all {ITERATIONS} mixes", "-"
            if threshold == THRESHOLD:
                stop, gain = f"until SSIM > {threshold}", f"{slow * DIGITS / median(whole):.1f}"
            floors = [[f + p for f, p in zip(forward, products)] for products in filters]
            rows.append((f"{name}, {stop}", f"{mixed:,}",
                         *(f"{median(t) / mixed * 1e6:.1f}" for t in (whole, forward, *filters)),
                         *(f"{factor(whole, floor):.2f}" for floor in floors), gain))
    table(f"Algorithm 1 on {DIGITS:,} digits, white, at most {ITERATIONS} mixes; µs for each image mixed",
          ("net", "images mixed", "search", "forward", *(f"filter {way}" for way in FILTERS),
           *(f"to floor {way}" for way in FILTERS), "times faster than a loop"), rows,
          "Floor: forward passes and the filter of SSIM, multiplied in halves, whole or image by image. "
          "Medians over rounds that time all of them in turn.",
          "Last column: how much faster than a loop over images with scikit-image's SSIM, which ran on "
          f"{DIGITS_LITERAL} digits and is scaled to {DIGITS:,}.")
