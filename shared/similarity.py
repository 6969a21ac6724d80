"""Structural similarity (SSIM) of whole batches of image pairs.

The window of SSIM is separable, so filtering an H x W image with replicated border is `A_h @ image @ A_w.T`
with one small banded matrix per side. Each side is one batched product for a whole chunk of images, of the
two halves of its matrix: the upper half is zero in the last columns and the lower half in the first ones, so
that each multiplies only 19 of the 28 pixels of a row. Three more choices make it fast and accurate:

- The moments are those of the sum s = x + y and the difference d = x - y instead of x and y. As
  2 (mu_x^2 + mu_y^2) = mu_s^2 + mu_d^2 and 4 mu_x mu_y = mu_s^2 - mu_d^2, and likewise for (co)variances,
  four filtered maps suffice (x, y, x^2, y^2, xy are five), and nearly equal images, on which searches end,
  lose no digits. Both factors of SSIM are (S - D) / (S + D), with a term S of s and D of d.
- A variance E[s^2] - E[s]^2 cancels where s is flat and far from zero. Subtracting each image's first pixel
  gives exact zeros on a flat background, and so no error. Elsewhere the error of S is about eps E[s]^2, and
  that of SSIM D / (S + D)^2 times that; D likewise. This is estimated for every pair, and pairs whose error
  may be near 1e-5 are computed again in float64.
- Besides the products, passes over the maps and calls take time. So a chunk fits into the caches, all chunks
  are computed in place, in the same two blocks of memory, and the views of these are made once.
"""
from functools import cache, partial

import torch

from .runtime import UserError

K1, K2 = 0.01, 0.03
CONVENTIONS = ("matlab", "skimage", "uniform")
DOUBTFUL = 1e-6   # estimated float32 error of a pair above which float64 is used; the true one is < 1e-5
DOUBT_PIXELS = 8  # the estimate is the mean of a smooth map, of which every eighth pixel suffices
LINE = 16         # pairs are adjacent in the moments; a multiple of this fills whole cache lines
CHUNK_PIXELS = {"cpu": 2**17, "cuda": 2**21}      # 4 MB of memory, near the CPU's caches; CUDA: 64 MB


@torch.no_grad()
def ssim(x: torch.Tensor, y: torch.Tensor, *, convention: str = "matlab",
         data_range: float | None = None) -> torch.Tensor:
    """SSIM of each pair (x[i], y[i]); Wang et al. 2004, with K1 = 0.01, K2 = 0.03; `ren`, Equation 1.

    x, y: uint8 or floating tensors of one shape [N, H, W] or [N, C, H, W]; channels are averaged.
    convention: how the local moments are computed.
      "matlab"   MATLAB's ssim: Gaussian window 11 x 11, sigma 1.5, replicated border, mean of the whole map;
      "skimage"  scikit-image with gaussian_weights=True, sigma=1.5, use_sample_covariance=False: the same
                 window, but the mean excludes the 5 border pixels whose window exceeds the image;
      "uniform"  scikit-image's defaults: uniform window 7 x 7, sample covariance, 3 border pixels excluded.
    data_range: distance between the smallest and largest possible pixel value (L of Equation 1). None: 255
      for uint8 images, 1 for floating ones, which must then lie in [0, 1].

    Returns [N], float32, or float64 for float64 images.
    Raises UserError for an unknown convention, other shapes or types, or images smaller than the window.
    """
    weights, crop, unbias = _window(convention)
    data_range = _checked_range(x, y, weights.numel(), data_range)
    height, width = x.shape[-2:]
    sides = [_filter_matrix(size, weights, crop) for size in (height, width)]
    c1, c2 = 2 * (K1 * data_range) ** 2, 2 * (K2 * data_range) ** 2 / unbias
    planes = x.reshape(-1, height * width), y.reshape(-1, height * width)
    step = CHUNK_PIXELS["cuda" if x.is_cuda else "cpu"] // (height * width)
    step = step // LINE * LINE or max(1, step)

    def compare(x, y, dtype):
        kernel = cache(partial(_kernel, [side.to(x.device, dtype) for side in sides], c1, c2))
        chunks = zip(x.split(step), y.split(step))
        return map(torch.cat, zip(*(kernel(len(a))(a, b) for a, b in chunks)))

    double = torch.float64 in (x.dtype, y.dtype)
    value, error = compare(*planes, torch.float64 if double else torch.float32)
    if not double and (doubtful := error > DOUBTFUL).any():
        again, _ = compare(planes[0][doubtful], planes[1][doubtful], torch.float64)
        value[doubtful] = again.float()
    return value.view(len(x), -1).mean(1)


def _kernel(sides, c1, c2, n):
    """Function that compares n pairs at a time; all its calls use the same memory.

    For planes x, y [n, H W] it returns SSIM [n] and an estimate [n] of its rounding error.
    """
    (out_h, h), (out_w, w) = (side.shape for side in sides)
    size = out_h * out_w
    even, odd = sides[0].new_empty(2, 4 * n * h * w)
    maps, rows, moments = even.view(2, 2, n, h * w), odd[:4 * n * h * out_w], even[:4 * n * size]
    filter_w = _product(sides[1], maps.view(-1, w), rows)                  # rows: [W', 2, 2, n, H]
    filter_h = _product(sides[0], rows.view(-1, h), moments)
    moments = moments.view(size, 2, 2, n)

    linear, squares = maps                                                 # s, d; s^2, d^2
    (s, d), first = linear, linear[:, :, :1]
    means, variances = moments.unbind(1)
    (mu_s, mu_d), (var_s, var_d) = means.unbind(1), variances.unbind(1)
    of_s, of_d = moments.unbind(2)
    some_means, some_variances = means[::DOUBT_PIXELS], variances[::DOUBT_PIXELS]
    c1, c2, half = even.new_tensor(c1), even.new_tensor([c2, 0]).view(2, 1, 1), even.new_tensor(-0.5)

    def kernel(x, y):
        s.copy_(x)
        d.copy_(y).sub_(s)
        torch.add(d, s, alpha=2, out=s)                                    # the sign of d does not matter
        pivot = first.clone()                                              # a shift leaves variances alone
        linear.sub_(pivot)
        torch.addcmul(c2, linear, linear, out=squares)                     # the filter keeps constants
        filter_w()
        filter_h()

        variances.addcmul_(means, means, value=-1)                         # var_s + 2 c2, var_d
        error = some_means.square().mul_(some_variances.flip(1))           # before they are shifted back
        means.add_(pivot.squeeze(2))
        torch.addcmul(c1, mu_s, mu_s, out=mu_s)                            # mu_s^2 + 2 c1
        torch.addcmul(mu_s, mu_d, mu_d, out=mu_d)
        var_d.add_(var_s)                                                  # of_d: S + D of either factor
        error.div_(some_variances[:, 1:].square())
        torch.addcdiv(half, of_s, of_d, out=of_s)                          # S / (S + D) - 1/2: half of it
        value = mu_s.mul_(var_s).sum(0).mul_(4 / size)
        return value, error.sum((0, 1)).mul_(torch.finfo(error.dtype).eps / len(error))

    return kernel


def _product(matrix, rows, out):
    """Function that writes matrix [R, C] @ rows.T, rows [N, C], to the flat `out`; in halves if R is even."""
    parts, reach = matrix[None], matrix.shape[1]
    if len(matrix) % 2 == 0:
        upper, lower = matrix.chunk(2)
        reach = int(upper.any(0).sum())                                    # the columns that are not zero
        parts = torch.stack([upper[:, :reach], lower[:, -reach:]])
    windows = rows.unfold(1, reach, max(1, matrix.shape[1] - reach)).permute(1, 2, 0)
    return partial(torch.bmm, parts, windows, out=out.view(*parts.shape[:2], -1))


def _window(convention):
    """1-D weights of the separable window, excluded border pixels, factor on the biased variance."""
    if convention == "uniform":
        return torch.full((7,), 1 / 7, dtype=torch.float64), 3, 49 / 48
    if convention not in CONVENTIONS:
        raise UserError(f"unknown SSIM convention {convention!r}; use one of {', '.join(CONVENTIONS)}")
    weights = torch.exp(-torch.arange(-5, 6, dtype=torch.float64).square() / (2 * 1.5**2))
    return weights / weights.sum(), 5 if convention == "skimage" else 0, 1.0


def _filter_matrix(size, weights, crop):
    """[size - 2 crop, size]: row i holds the weights of the pixels around i + crop, border replicated."""
    radius = len(weights) // 2
    columns = (torch.arange(size)[:, None] + torch.arange(-radius, radius + 1)).clamp(0, size - 1)
    matrix = torch.zeros(size, size, dtype=weights.dtype)
    return matrix.scatter_add_(1, columns, weights.expand(size, -1))[crop:size - crop]


def _checked_range(x, y, window, data_range):
    """The data range. Raises UserError as `ssim` documents."""
    for images in (x, y):
        if not isinstance(images, torch.Tensor):
            raise UserError(f"SSIM takes torch tensors, not a {type(images).__name__}")
    if x.shape != y.shape or x.dim() not in (3, 4) or len(x) == 0:
        raise UserError(f"SSIM compares two batches of one shape [N, H, W] or [N, C, H, W], "
                         f"not {list(x.shape)} and {list(y.shape)}")
    for images in (x, y):
        if images.dtype != torch.uint8 and not images.dtype.is_floating_point:
            raise UserError(f"SSIM takes uint8 or floating images, not {images.dtype}; call .float()")
    if x.dtype != y.dtype:
        raise UserError(f"SSIM compares images of one type and range, not {x.dtype} and {y.dtype}")
    if min(x.shape[-2:]) < window:
        raise UserError(f"images of {' x '.join(map(str, x.shape[-2:]))} pixels are too small: "
                         f"SSIM's window is {window} x {window} (7 x 7 for the convention 'uniform')")
    if data_range is None and x.dtype == torch.uint8:
        return 255.0
    if data_range is None:
        low, high = float(min(x.min(), y.min())), float(max(x.max(), y.max()))
        if not (low >= -1e-5 and high <= 1 + 1e-5):       # rounding may leave it
            raise UserError(f"floating pixels lie in [{low:g}, {high:g}], not in [0, 1]; state data_range, "
                            "255 for 0..255")
        return 1.0
    if not data_range > 0:
        raise UserError(f"data_range={data_range}: it must be positive (255 for uint8 images, 1 for [0, 1])")
    return data_range
