"""A small random network on which a page checks an implementation against the paper's own steps."""
import torch


def small_network(seed, hidden, classes, spread=1.0):
    """`(network, image)`: a random network on 6 x 6 pixels, and an image."""
    generator = torch.Generator().manual_seed(seed)
    first = spread * torch.randn(hidden, 36, generator=generator)
    second = torch.randn(classes, hidden, generator=generator)
    image = 0.2 + 0.6 * torch.rand(1, 1, 6, 6, generator=generator)
    return lambda images: torch.tanh(images.flatten(1) @ first.T) @ second.T, image
