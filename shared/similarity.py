"""Structural similarity (SSIM) of whole batches of image pairs.

The window of SSIM is separable, so filtering an H x W image with replicated border is `A_h @ image @ A_w.T`
with one small banded matrix per side: two matrix products filter a whole batch. Two more choices make it
fast, and safe in float32:

- The moments are those of the sum s = x + y and the difference d = x - y instead of x and y. As
  2 (mu_x^2 + mu_y^2) = mu_s^2 + mu_d^2 and 4 mu_x mu_y = mu_s^2 - mu_d^2, and likewise for (co)variances,
  four filtered maps suffice (x, y, x^2, y^2, xy are five), and nearly equal images, where SSIM decides a
  search, lose no digits.
- A variance E[d^2] - E[d]^2 cancels where d is flat and far from zero. Subtracting each image's mean first
  removes most of that. What is left is estimated for every pair, and the few pairs that it could move by
  nearly 1e-5 are done again in float64.
"""
import torch

K1, K2 = 0.01, 0.03
CONVENTIONS = ("matlab", "skimage", "uniform")
DOUBTFUL = 1e-6   # estimated float32 error of a pair beyond which float64 is used; the true one is < 1e-5
CHUNK_PIXELS = {"cpu": 2**17, "cuda": 2**21}      # CPU: near the level-2 cache; CUDA: about 100 MB in flight


@torch.no_grad()
def ssim(x, y, *, convention="matlab", data_range=255.0, full=False):
    """SSIM of each pair (x[i], y[i]); Wang et al. 2004, with K1 = 0.01, K2 = 0.03; `ren`, Equation 1.

    x, y: uint8 or floating tensors of one shape [N, H, W] or [N, C, H, W]; channels are averaged.
    convention: how the local moments are taken.
      "matlab"   MATLAB's ssim: Gaussian window 11 x 11, sigma 1.5, replicated border, mean of the whole map;
      "skimage"  scikit-image with gaussian_weights=True, sigma=1.5, use_sample_covariance=False: the same
                 window, but the mean leaves out the 5 border pixels whose window leaves the image;
      "uniform"  scikit-image's defaults: uniform window 7 x 7, sample covariance, 3 border pixels left out.
    data_range: distance between the smallest and largest possible pixel value (L of Equation 1).

    Returns [N] (float32, or float64 for float64 images); with full=True (that, the map [N, H', W'] or
    [N, C, H', W']).
    Raises ValueError for an unknown convention, other shapes or types, or images smaller than the window.
    """
    weights, crop, unbias = _window(convention)
    _check(x, y, weights.numel(), data_range)
    dtype = torch.float64 if torch.float64 in (x.dtype, y.dtype) else torch.float32
    height, width = x.shape[-2:]
    c1, c2 = (K1 * data_range) ** 2, (K2 * data_range) ** 2
    filters = [_filter_matrix(size, weights, crop).to(x.device) for size in (height, width)]

    def maps(a, b, dtype):
        return _ssim_maps(a.to(dtype), b.to(dtype), [f.to(dtype) for f in filters], c1, c2, unbias)

    planes = x.reshape(-1, height, width), y.reshape(-1, height, width)
    step = max(1, CHUNK_PIXELS["cuda" if x.is_cuda else "cpu"] // (height * width))
    values, kept_maps = [], []
    for a, b in zip(*(p.split(step) for p in planes)):
        chunk, doubt = maps(a, b, dtype)
        if dtype == torch.float32 and (doubtful := doubt > DOUBTFUL).any():
            chunk[doubtful] = maps(a[doubtful], b[doubtful], torch.float64)[0].float()
        values.append(chunk.mean((-2, -1)))
        if full:
            kept_maps.append(chunk)
    value = torch.cat(values).view(len(x), -1).mean(1)
    return (value, torch.cat(kept_maps).view(*x.shape[:-2], *kept_maps[0].shape[1:])) if full else value


def _ssim_maps(x, y, filters, c1, c2, unbias):
    """SSIM map [M, H', W'] of planes [M, H, W], and per pair an estimate [M] of its rounding error."""
    maps = x.new_empty(4, *x.shape)                       # s, d, s^2, d^2
    torch.add(x, y, out=maps[0])
    torch.sub(x, y, out=maps[1])
    pivot = maps[:2].mean((-2, -1), keepdim=True)         # shifting an image leaves its variances alone
    maps[:2] -= pivot
    torch.mul(maps[:2], maps[:2], out=maps[2:])
    maps = filters[0] @ (maps @ filters[1].T)
    squares = maps[:2].square()
    var_s, var_d = (maps[2:] - squares).mul_(unbias)
    mean_s2, mean_d2 = (maps[:2] + pivot).square_()
    contrast = (var_s + var_d).add_(2 * c2)
    luminance = 1 - 2 * mean_d2 / (mean_s2 + mean_d2).add_(2 * c1)
    doubt = (luminance * squares[1] / contrast).mean((-2, -1)) * torch.finfo(x.dtype).eps
    return luminance * (1 - 2 * var_d / contrast), doubt


def _window(convention):
    """1-D weights of the separable window, border pixels left out, factor on the biased variance."""
    if convention == "uniform":
        return torch.full((7,), 1 / 7, dtype=torch.float64), 3, 49 / 48
    if convention not in CONVENTIONS:
        raise ValueError(f"unknown SSIM convention {convention!r}; use one of {', '.join(CONVENTIONS)}")
    weights = torch.exp(-torch.arange(-5, 6, dtype=torch.float64).square() / (2 * 1.5**2))
    return weights / weights.sum(), 5 if convention == "skimage" else 0, 1.0


def _filter_matrix(size, weights, crop):
    """[size - 2 crop, size]: row i weighs the pixels around i + crop; beyond the border its edge repeats."""
    radius = len(weights) // 2
    columns = (torch.arange(size)[:, None] + torch.arange(-radius, radius + 1)).clamp(0, size - 1)
    matrix = torch.zeros(size, size, dtype=weights.dtype)
    return matrix.scatter_add_(1, columns, weights.expand(size, -1))[crop:size - crop]


def _check(x, y, window, data_range):
    if x.shape != y.shape or x.dim() not in (3, 4) or len(x) == 0:
        raise ValueError(f"SSIM compares two batches of one shape [N, H, W] or [N, C, H, W], "
                         f"not {list(x.shape)} and {list(y.shape)}")
    for images in (x, y):
        if images.dtype != torch.uint8 and not images.dtype.is_floating_point:
            raise ValueError(f"SSIM takes uint8 or floating images, not {images.dtype}; call .float()")
    if min(x.shape[-2:]) < window:
        raise ValueError(f"images of {' x '.join(map(str, x.shape[-2:]))} pixels are too small: "
                         f"SSIM's window is {window} x {window}")
    if not data_range > 0:
        raise ValueError(f"data_range={data_range}: it must be positive (255 for uint8 images, 1 for [0, 1])")
