"""Algorithm 1 of `ren` against its floor (forward passes, filter products) and against a loop over images."""
import time

import torch
from skimage.metrics import structural_similarity

from benchmarks import best, repeated, table
from shared import models, runtime, training
from shared.borderline import mix, search

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


def measure(classify, digits, background, threshold):
    """Seconds of a search, of its forward passes, of its filter products, and the number of images mixed."""
    batches = []

    def recording(images):
        batches.append(images)
        return classify(images)

    def once():
        return search(classify, digits, background, max_iterations=ITERATIONS, threshold=threshold)

    pairs = search(recording, digits, background, max_iterations=ITERATIONS, threshold=threshold)
    mixed = int(pairs.iterations.sum())
    compared = mixed + 2 * int((~pairs.excluded).sum())       # one SSIM a mix, two of the final images
    return *best(once, lambda: [classify(images) for images in batches], lambda: filter_products(compared),
                 repeats=2), mixed


def run(dataset):
    """Print the table, one row a net and stopping rule, with a white background."""
    digits = repeated(dataset.x_test, DIGITS)
    background = torch.full_like(digits[:1], 255)
    rows = []
    for name in ("ren-a", "ren-b", "ren-c"):
        generator = runtime.generator(0, name)
        net = models.build(name, generator=generator)
        # What the search costs depends on real boundaries, not on the best net: one short pass will do.
        training.fit(net, dataset.x_train, dataset.y_train, training.Recipe(epochs=1, images=6000),
                     generator=generator, device=torch.device("cpu"))
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
          ("net", "images mixed", "search s", "forward s", "filter s", "to floor", "x faster than loop"), rows)
    print(f"  The loop (scikit-image's SSIM) ran on {DIGITS_LITERAL} digits and is scaled to {DIGITS:,}.")
