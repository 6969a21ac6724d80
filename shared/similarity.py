"""Structural similarity (SSIM) of whole batches of image pairs.

The window of SSIM is separable, so filtering an H x W image with replicated border is `A_h @ image @ A_w.T`
with one small banded matrix per side. Each side is one product of two matrices for a whole chunk of images:
the first leaves the rows of all images in one axis, ready for the second. Three more choices make it fast,
and safe in float32:

- The moments are those of the sum s = x + y and the difference d = x - y instead of x and y. As
  2 (mu_x^2 + mu_y^2) = mu_s^2 + mu_d^2 and 4 mu_x mu_y = mu_s^2 - mu_d^2, and likewise for (co)variances,
  four filtered maps suffice (x, y, x^2, y^2, xy are five), and nearly equal images, where SSIM decides a
  search, lose no digits.
- A variance E[d^2] - E[d]^2 cancels where d is flat and far from zero. Subtracting each image's mean first
  removes most of that. What is left is estimated for every pair, and the few pairs that it could move by
  nearly 1e-5 are done again in float64.
- A chunk stays near the caches: all chunks are worked on in place, in the same two blocks of memory, and each
  product of matrices reads one of them and writes the other.
"""
import torch

from shared.runtime import UserError

K1, K2 = 0.01, 0.03
CONVENTIONS = ("matlab", "skimage", "uniform")
DOUBTFUL = 1e-6   # estimated float32 error of a pair beyond which float64 is used; the true one is < 1e-5
DOUBT_COLUMNS = 4   # that estimate is the mean of a smooth map: every fourth column will do
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
    Raises UserError for an unknown convention, other shapes or types, or images smaller than the window.
    """
    weights, crop, unbias = _window(convention)
    _check(x, y, weights.numel(), data_range)
    height, width = x.shape[-2:]
    sides = [_filter_matrix(size, weights, crop) for size in (height, width)]
    c1, c2 = 2 * (K1 * data_range) ** 2, 2 * (K2 * data_range) ** 2 / unbias
    planes = x.reshape(-1, height, width), y.reshape(-1, height, width)
    step = max(1, CHUNK_PIXELS["cuda" if x.is_cuda else "cpu"] // (height * width))

    def compare(x, y, dtype):
        kernel = _Kernel([side.to(x.device, dtype) for side in sides], c1, c2, min(step, len(x)))
        return map(torch.cat, zip(*(kernel(a, b, full) for a, b in zip(x.split(step), y.split(step)))))

    double = torch.float64 in (x.dtype, y.dtype)
    value, doubt, *maps = compare(*planes, torch.float64 if double else torch.float32)
    if not double and (doubtful := doubt > DOUBTFUL).any():
        again = compare(*(p[doubtful] for p in planes), torch.float64)
        for old, new in zip((value, doubt, *maps), again):
            old[doubtful] = new.float()
    value = value.view(len(x), -1).mean(1)
    return (value, maps[0].view(*x.shape[:-2], *maps[0].shape[1:])) if full else value


class _Kernel:
    """SSIM of up to `most` pairs at a time; each call works in the memory of the one before."""

    def __init__(self, sides, c1, c2, most):
        self.a_h, self.a_w = sides
        self.c1, self.c2 = (self.a_h.new_tensor([c, 0]).view(2, 1, 1) for c in (c1, c2))
        pixels = 4 * most * self.a_h.shape[1] * self.a_w.shape[1]
        self.even, self.odd = self.a_h.new_empty(2, pixels)

    def __call__(self, x, y, full):
        """SSIM [M] of planes [M, H, W], an estimate [M] of its error and, if full, its map [M, H', W']."""
        n, h, w = x.shape
        out_h, out_w = len(self.a_h), len(self.a_w)
        maps = self.even[:4 * n * h * w].view(2, 2, n, h * w)              # s, s^2, d, d^2
        s, d = maps[:, 0]
        s.copy_(x.flatten(1))
        d.copy_(y.flatten(1)).sub_(s)
        torch.add(d, s, alpha=2, out=s)                                    # the sign of d does not matter
        pivot = maps[:, 0].mean(-1, keepdim=True)                          # a shift leaves variances alone
        maps[:, 0] -= pivot
        torch.addcmul(self.c2, maps[:, 0], maps[:, 0], out=maps[:, 1])     # the filter keeps constants

        rows = self.odd[:4 * n * h * out_w].view(out_w, -1)
        moments = self.even[:4 * n * out_h * out_w].view(-1, out_h)
        torch.mm(self.a_w, maps.view(-1, w).T, out=rows)
        torch.mm(rows.view(-1, h), self.a_h.T, out=moments)
        moments = moments.view(out_w, 2, 2, n, out_h)

        means, variances = moments[:, :, 0], moments[:, :, 1]
        variances.addcmul_(means, means, value=-1)                         # var_s + 2 c2, var_d
        some = means[::DOUBT_COLUMNS, 1]
        doubt = torch.mul(some, some, out=self.odd[:some.numel()].view(some.shape))
        means += pivot.expand(2, n, out_h).contiguous()
        torch.addcmul(self.c1, means, means, out=means)                    # mu_s^2 + 2 c1, mu_d^2
        total = moments[:, 0].add_(moments[:, 1])
        luminance, contrast = moments[:, 1].div_(total).unbind(1)          # of each factor f: (1 - f) / 2
        doubt.div_(total[::DOUBT_COLUMNS, 1]).addcmul_(doubt, luminance[::DOUBT_COLUMNS], value=-2)
        loss = torch.add(luminance, contrast, out=total[:, 0]).addcmul_(luminance, contrast, value=-2)
        doubt = doubt.sum(0).mean(1) * (torch.finfo(loss.dtype).eps / len(doubt))
        value = 1 - 2 * loss.sum(0).mean(1) / out_w
        return (value, doubt, 1 - 2 * loss.permute(1, 2, 0)) if full else (value, doubt)


def _window(convention):
    """1-D weights of the separable window, border pixels left out, factor on the biased variance."""
    if convention == "uniform":
        return torch.full((7,), 1 / 7, dtype=torch.float64), 3, 49 / 48
    if convention not in CONVENTIONS:
        raise UserError(f"unknown SSIM convention {convention!r}; use one of {', '.join(CONVENTIONS)}")
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
        raise UserError(f"SSIM compares two batches of one shape [N, H, W] or [N, C, H, W], "
                         f"not {list(x.shape)} and {list(y.shape)}")
    for images in (x, y):
        if images.dtype != torch.uint8 and not images.dtype.is_floating_point:
            raise UserError(f"SSIM takes uint8 or floating images, not {images.dtype}; call .float()")
    if min(x.shape[-2:]) < window:
        raise UserError(f"images of {' x '.join(map(str, x.shape[-2:]))} pixels are too small: "
                         f"SSIM's window is {window} x {window}")
    if not data_range > 0:
        raise UserError(f"data_range={data_range}: it must be positive (255 for uint8 images, 1 for [0, 1])")
