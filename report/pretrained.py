"""SqueezeNet 1.1 with torchvision's weights for ImageNet: the network of the pages on ImageNet."""
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from report import inputs
from shared import runtime
from shared.data.archives import fingerprint
from shared.inference import Normalise
from shared.runtime import UserError

SQUEEZENET = "squeezenet1_1_imagenet.safetensors"      # in the data folder
SQUEEZENET_WEIGHTS = "5d7610d4c386d7e4"    # `fingerprint` of the weights in float16


def squeezenet():
    """SqueezeNet 1.1 for 1,000 classes, normalisation inside, random weights; see `pretrained_squeezenet`."""
    from torchvision.models import squeezenet1_1

    net = squeezenet1_1(weights=None)
    return nn.Sequential(Normalise((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)), net)


def pretrained_squeezenet():
    """`squeezenet` with torchvision's weights for ImageNet, in eval mode.

    They come from the data folder, else by torchvision's download; either way they are rounded to float16
    and must be the weights known here. Raises UserError where they cannot be had or are others.
    """
    path = runtime.data_folder() / SQUEEZENET
    try:
        weights = load_file(path) if path.is_file() else _from_torchvision()
    except (SafetensorError, OSError) as error:
        raise UserError(f"{SQUEEZENET} cannot be read or downloaded ({str(error).splitlines()[0]}); put it "
                        "into the data folder, $BOUNDARY_DATA") from None
    weights = {key: value.half() for key, value in weights.items()}
    if (own := fingerprint(weights)) != SQUEEZENET_WEIGHTS:
        raise UserError(f"weights of SqueezeNet 1.1 have fingerprint {own}, not {SQUEEZENET_WEIGHTS}; take "
                        "torchvision's IMAGENET1K_V1, or delete the file to have them downloaded")
    inputs.used("inputs", "weights/squeezenet1_1", {"weights": SQUEEZENET_WEIGHTS})
    net = squeezenet()
    net[1].load_state_dict({key: value.float() for key, value in weights.items()})
    return net.eval()


def _from_torchvision():
    from torchvision.models import SqueezeNet1_1_Weights

    return SqueezeNet1_1_Weights.IMAGENET1K_V1.get_state_dict(
        progress=False, check_hash=True, model_dir=runtime.cache_folder() / "torchvision")
