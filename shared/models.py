"""The architectures of the papers, by name. Every model takes float32 images in [0, 1], NCHW, and returns logits."""
import torch
from torch import nn

from shared import runtime

_BUILDERS = {}


def architecture(name):
    """Register a builder `() -> nn.Module` under a name such as `ren-a`."""
    def register(builder):
        _BUILDERS[name] = builder
        return builder
    return register


def names():
    """Names of all architectures."""
    return tuple(_BUILDERS)


def build(name, *, generator=None, **options):
    """A new, randomly initialised network.

    name       one of `names()`
    generator  CPU generator that draws the initial weights; the global generator is left as it was
    options    passed to the builder
    Raises ValueError for an unknown name.
    """
    if name not in _BUILDERS:
        raise ValueError(f"unknown architecture {name!r}; allowed: {', '.join(names())}")
    with torch.random.fork_rng(devices=[]):
        if generator is not None:
            torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))
        return _BUILDERS[name](**options)


def classifier(net, *, device=None, chunk=None):
    """A function from uint8 images [N, C, H, W] to predicted classes, int64 [N], in float32."""
    def classify(images):
        return logits(net, images, device=device, chunk=chunk).argmax(1)
    return classify


def logits(net, images, *, device=None, chunk=None):
    """Logits [N, classes] of uint8 images [N, C, H, W], in float32, on the CPU.

    Raises ValueError for images that are not uint8 [N, C, H, W].
    """
    if images.dtype != torch.uint8 or images.ndim != 4:
        raise ValueError(f"expected uint8 images [N, C, H, W], got {images.dtype} {list(images.shape)}")
    device = device or next(net.parameters()).device
    net = net.to(device).eval().to(memory_format=torch.channels_last)
    # Work memory of a net on a 28x28 image is some tens of feature maps as large as the image.
    chunk = chunk or runtime.chunk_size(images[0].numel() * 4 * 64, device) if len(images) else 1

    def forward(x):
        with torch.inference_mode():
            x = x.to(device).to(torch.float32, memory_format=torch.channels_last).div_(255)
            return net(x).float().cpu()
    return runtime.chunked(forward, images, chunk=chunk)


# ---- Ren et al., Table I ---------------------------------------------------------------------------------
# Convolutions are unpadded with stride 1, as MATLAB's convolution2dLayer is by default; pools have stride 2
# (with MATLAB's default stride of 1 the flattened sizes would not suit the printed fully connected layers).
# A dropout or any other layer the table does not print is not here.
def _ren_ab(c1, c2, h1):
    return nn.Sequential(
        nn.Conv2d(1, c1, 3), nn.ReLU(), nn.BatchNorm2d(c1), nn.MaxPool2d(2),
        nn.Conv2d(c1, c2, 3), nn.ReLU(), nn.BatchNorm2d(c2), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(c2 * 25, h1), nn.ReLU(), nn.Linear(h1, 84), nn.ReLU(), nn.Linear(84, 10))


@architecture("ren-a")
def ren_a():
    """Architecture A: 6 and 16 filters, fully connected 120, 84, 10 (LeNet-5-like)."""
    return _ren_ab(6, 16, 120)


@architecture("ren-b")
def ren_b():
    """Architecture B: 20 and 50 filters, fully connected 500, 84, 10."""
    return _ren_ab(20, 50, 500)


@architecture("ren-c")
def ren_c(last_relu=False):
    """Architecture C: 32 and 64 filters, one pool, batch normalisation of the flattened features, 128, 10.

    The table prints a ReLU on the ten outputs. With it, a net whose outputs are all clipped cannot learn, so it is
    off unless `last_relu` asks for the printed layer.
    """
    layers = [nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
              nn.Flatten(), nn.BatchNorm1d(64 * 144), nn.Linear(64 * 144, 128), nn.ReLU(), nn.Linear(128, 10)]
    return nn.Sequential(*layers, *([nn.ReLU()] if last_relu else []))
