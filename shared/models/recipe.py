"""The form of a training recipe; the recipes themselves stand beside the architectures of their paper."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """How a net is trained: SGD with Nesterov momentum under a one-cycle learning rate."""
    epochs: int                   # passes over the training images
    images: int | None = None     # first n training images; None takes all
    batch: int = 128              # images a step
    rate: float = 0.05            # largest learning rate, reached after a fifth of the steps
    momentum: float = 0.9
    weight_decay: float = 1e-4    # on weights of convolutions and linear layers only
    bf16: bool = False            # bfloat16 autocast in the forward pass; weights stay float32

    def __post_init__(self):
        if self.epochs < 1 or self.batch < 1 or (self.images is not None and self.images < 1) or self.rate <= 0:
            raise ValueError(f"recipe out of range: {self}; epochs, images and batch are at least 1, rate is above 0")
