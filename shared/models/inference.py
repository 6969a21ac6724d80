"""What a network answers: logits and classes of many images, in float32, whatever the batch."""
import torch

from shared import runtime


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
