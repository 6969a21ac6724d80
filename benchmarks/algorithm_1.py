"""Algorithm 1 of `ren` against its floor (forward passes, filter products) and against a loop over images."""
import time

import torch
from skimage.metrics import structural_similarity

from benchmarks import best, repeated, table
from shared import runtime
from shared.borderline import mix, search
from shared.models import models
from shared.training import training

DIGITS, DIGITS_LITERAL, ITERATIONS, THRESHOLD = 10_000, 100, 9, 0.99


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


def filter_products(pairs, *, chunk=160):
    """The matrix products that the moments of SSIM of `pairs` pairs of 28 x 28 images cannot do without."""
    maps, matrix = torch.rand(4 * chunk, 28, 28), torch.rand(28, 28)
    for _ in range(round(pairs / chunk)):
        matrix @ (maps @ matrix.T)


def measure(classify, digits, background, threshold, *, repeats=2):
    """Seconds of the fastest search, of the forward passes within it, of filter products; images mixed.

    The forward passes are timed inside the search: apart from it, on a busy machine, the same passes differ
    by more than the search adds to them.
    """
    searches = []
    for _ in range(repeats):
        forward = 0.0

        def timed(images):
            nonlocal forward
            start = time.perf_counter()
            classes = classify(images)
            forward += time.perf_counter() - start
            return classes

        start = time.perf_counter()
        pairs = search(timed, digits, background, max_iterations=ITERATIONS, threshold=threshold)
        searches.append((time.perf_counter() - start, forward))
    mixed = int(pairs.iterations.sum())
    compared = mixed + 2 * int((~pairs.excluded).sum())       # one SSIM a mix, two of the final images
    filtering, = best(lambda: filter_products(compared))
    return *min(searches), filtering, mixed


def run(dataset):
    """Print the table, one row a net and stopping rule, with a white background."""
    digits = repeated(dataset.x_test, DIGITS)
    background = torch.full_like(digits[:1], 255)
    rows = []
    for name in ("ren-a", "ren-b", "ren-c"):
        generator = runtime.generator(0, name)
        net = models.build(name, generator=generator)
        # The cost depends on real boundaries, not on the best net: about 6,000 images of training will do.
        recipe = training.Recipe(epochs=-(-6000 // len(dataset.x_train)), images=6000)
        training.fit(net, dataset.x_train, dataset.y_train, recipe, generator=generator,
                     device=torch.device("cpu"))
        classify = models.classifier(net)

        start = time.perf_counter()
        for source in digits[:DIGITS_LITERAL].split(1):
            literal(classify, source, background)
        slow = (time.perf_counter() - start) / DIGITS_LITERAL
        for threshold in (THRESHOLD, 1):
            seconds, forward, filtering, mixed = measure(classify, digits, background, threshold)
            stop, gain = f"all {ITERATIONS} mixes", "-"
            if threshold == THRESHOLD:
                stop, gain = f"until SSIM > {threshold}", f"{slow * DIGITS / seconds:.1f}"
            rows.append((f"{name}, {stop}", f"{mixed:,}", f"{seconds:.2f}", f"{forward:.2f}",
                         f"{filtering:.2f}", f"{seconds / (forward + filtering):.2f}", gain))
    table(f"Algorithm 1 on {DIGITS:,} digits, white, at most {ITERATIONS} mixes; floor is forward + filter",
          ("net", "images mixed", "search s", "forward s", "filter s", "to floor", "times a loop"), rows)
    print(f"  Last column: how much faster than a loop over images with scikit-image's SSIM,\n"
          f"  which ran on {DIGITS_LITERAL} digits and is scaled to {DIGITS:,}.")
