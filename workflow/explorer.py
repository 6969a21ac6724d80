"""Write what the explorer of the home page loads (book/_static/explorer): digits and kept networks.

make explorer, or python -m workflow.explorer. A page opened from a folder can read no file but scripts: each
file is one that assigns its data.
"""
import base64
import json
import zlib

import numpy as np
import torch
from torch import nn

from papers.ren import experiments, models
from report import display, zoo
from report.repository import ROOT
from shared import runtime
from shared.data import sets

FOLDER = ROOT / "book/_static/explorer"
ARCHITECTURE, CLASSES, DIGITS = "ren-a", 10, 12
LICENCE = "MNIST, Y. LeCun, C. Cortes and C. J. C. Burges; CC BY-SA 3.0"


def kept():
    """The kept networks of architecture A, by their seed."""
    paths = sorted(zoo.ZOO.glob(f"{ARCHITECTURE}-mnist-s*.safetensors"))
    nets = [zoo.read(path, "cpu") for path in paths]
    return [trained for trained in nets if trained.recipe == models.PAPER]


def packed(array):
    """Bytes as text, and a sum by which a reader sees whether all are there."""
    data = array.tobytes()
    return base64.b64encode(data).decode(), zlib.adler32(data)


def layer(module):
    """A layer as plain values, without its parameters."""
    match module:
        case models.ZeroCentre():
            return {"kind": "centre", "mean": module.mean.item()}
        case nn.Conv2d() | nn.Linear():
            kind = "conv" if isinstance(module, nn.Conv2d) else "full"
            return {"kind": kind, "shape": list(module.weight.shape)}
        case nn.BatchNorm2d():
            return {"kind": "norm", "mean": module.running_mean.tolist(),
                    "variance": module.running_var.tolist(), "eps": module.eps}
        case nn.ReLU():
            return {"kind": "relu"}
        case nn.MaxPool2d():
            return {"kind": "pool"}
    raise TypeError(f"the explorer cannot compute {module}")


def network(trained):
    """A kept network as plain values; parameters in the order of its layers, in float16 as they are kept."""
    parameters = torch.cat([weights.detach().flatten() for weights in trained.net.parameters()])
    text, total = packed(parameters.numpy().astype("<f2"))
    return {"name": trained.name, "accuracy": trained.test_accuracy, "weights": text, "adler32": total,
            "layers": [layer(m) for m in trained.net if not isinstance(m, nn.Flatten)]}


def digits(dataset):
    """The first test image of each class and the next ones; colours of labels; the limits of a search."""
    labels = dataset.y_test.tolist()
    chosen = [labels.index(k) for k in range(CLASSES)]
    chosen += [n for n in range(DIGITS) if n not in chosen][:DIGITS - CLASSES]
    text, total = packed(dataset.x_test[chosen].numpy().astype(np.uint8))
    scale = experiments.BORDERLINE["paper"]
    return {"licence": LICENCE, "numbers": chosen, "labels": [labels[n] for n in chosen], "images": text,
            "adler32": total, "colours": display.PALETTE,
            "threshold": scale["threshold"], "most": scale["iterations"]}


def script(target, value):
    """The text of a script that assigns a value."""
    return f"var EXPLORER = EXPLORER || {{}};\nEXPLORER[{target!r}] = {json.dumps(value)};\n"


def main():
    dataset = sets.load("mnist", profile="paper")
    files = {"digits": digits(dataset)} | {f"weights-{n}": network(net) for n, net in enumerate(kept())}
    for name, value in files.items():
        path = FOLDER / f"{name}.js"
        path.write_text(script(name, value), encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    runtime.prepare()
    main()
