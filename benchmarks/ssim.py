"""SSIM of 28 x 28 images: `shared.similarity` against other libraries, time and deviation from float64."""
from functools import partial

import torch
from skimage.metrics import structural_similarity

from benchmarks import FILTERS, factor, filter_products, installed, median, repeated, rounds, sized, table
from shared.borderline import mix
from shared.similarity import ssim

PAIRS, PAIRS_SCIKIT = sized((4000, 400), (96, 8))
CHUNK = 200


def direct(x, y, *, crop):
    """SSIM [N] in float64 by its definition: 2-D Gaussian window 11 x 11, replicated border, less `crop`."""
    grid = torch.arange(-5, 6, dtype=torch.float64)
    window = torch.exp(-(grid[:, None] ** 2 + grid**2) / (2 * 1.5**2))
    x, y = x.double(), y.double()
    stack = torch.cat([x, y, x * x, y * y, x * y], 1).flatten(0, 1)[:, None]
    padded = torch.nn.functional.pad(stack, (5, 5, 5, 5), mode="replicate")
    filtered = torch.nn.functional.conv2d(padded, (window / window.sum())[None, None])
    mu_x, mu_y, xx, yy, xy = filtered.view(len(x), 5, *x.shape[-2:]).unbind(1)
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    full = ((2 * mu_x * mu_y + c1) * (2 * (xy - mu_x * mu_y) + c2)
            / ((mu_x**2 + mu_y**2 + c1) * (xx - mu_x**2 + yy - mu_y**2 + c2)))
    return full[:, crop:full.shape[1] - crop, crop:full.shape[2] - crop].mean((1, 2))


def scikit(x, y):
    return torch.tensor([structural_similarity(a, b, data_range=255, gaussian_weights=True, sigma=1.5,
                                               use_sample_covariance=False)
                         for a, b in zip(x[:, 0].numpy(), y[:, 0].numpy())])


def chunked(function, chunk=CHUNK):
    """`function(x, y)` over chunks of the pairs: CHUNK pairs suit the caches."""
    return lambda x, y: torch.cat([function(a, b) for a, b in zip(x.split(chunk), y.split(chunk))])


def peers():
    """`{label: function(x, y)}` of the other libraries."""
    libraries = {}
    if installed("torchmetrics"):
        from torchmetrics.functional.image import structural_similarity_index_measure
        libraries["torchmetrics (mirrored border)"] = partial(
            structural_similarity_index_measure, data_range=255.0, sigma=1.5, kernel_size=11,
            reduction="none")
    if installed("pytorch_msssim"):
        import pytorch_msssim
        libraries["pytorch-msssim"] = partial(pytorch_msssim.ssim, data_range=255, size_average=False)
    if installed("piq"):
        import piq
        libraries["piq"] = partial(piq.ssim, data_range=255.0, reduction="none", downsample=False)
    return {label: chunked(function) for label, function in libraries.items()}


def run(dataset):
    """Print the table. Half of the pairs are two digits, half a digit mixed with white once and twice."""
    digits = repeated(dataset.x_test, PAIRS // 2)
    once = mix(digits, torch.full_like(digits, 255))
    x, y = torch.cat([digits, once]), torch.cat([digits.roll(1, 0), mix(once, torch.full_like(digits, 255))])
    # Few at a time: in float64 torch unfolds each window into 121 numbers a pixel.
    truth = {crop: chunked(partial(direct, crop=crop), chunk=20)(x, y) for crop in (0, 5)}
    some = slice(None, None, PAIRS // PAIRS_SCIKIT)           # scikit-image takes one pair at a time

    floats = x.float(), y.float()                      # what the peers take; the conversion is not counted
    kernels = {
        "ours, matlab border": (partial(ssim, x, y), truth[0], PAIRS),
        "ours, scikit-image border": (partial(ssim, x, y, convention="skimage"), truth[5], PAIRS),
        "scikit-image": (partial(scikit, x[some], y[some]), truth[5][some], PAIRS_SCIKIT),
        **{name: (partial(peer, *floats), truth[0 if "border" in name else 5], PAIRS)
           for name, peer in peers().items()},
    }
    floors = [partial(filter_products, PAIRS, way) for way in FILTERS]
    spent = list(zip(*rounds(*(k for k, _, _ in kernels.values()), *floors)))
    micros = {name: [t / number * 1e6 for t in times]
              for times, (name, (_, _, number)) in zip(spent, kernels.items())}
    filters = [[t / PAIRS * 1e6 for t in times] for times in spent[len(kernels):]]

    def costs(times):
        return (f"{median(times):.1f}", *(f"{factor(times, floor):.2f}" for floor in filters),
                f"{factor(micros['scikit-image'], times):.1f}")

    rows = []
    for name, (function, expected, _) in kernels.items():
        deviation = (function().double() - expected).abs().max()
        rows.append((name, *costs(micros[name]), f"{deviation:.1e}"))
    rows += [(f"filter alone, {way}", *costs(times), "-") for way, times in zip(FILTERS, filters)]
    table("SSIM of 28 x 28 images, deviation from a direct float64 evaluation",
          ("", "µs a pair", *(f"to filter {way}" for way in FILTERS), "x faster than scikit-image",
           "largest deviation"), rows,
          "Medians over rounds that time all rows in turn. The filter is that of the whole 28 x 28 map, "
          "its matrix multiplied in halves without zero columns, whole, or image by image.")
