"""What the pictures of a card show, as plain values: adversarial images, labels in a plane through them."""
from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import torch

from .. import inference

if TYPE_CHECKING:
    from .instruments import Task

EXAMPLES, PLANES = 6, 2     # images with their nearest adversarial ones; of these, with a plane
SIDE = 96                   # pixels of the longer side that a picture has at most
ACROSS, UP, CELLS = (-1.0, 2.0), (1.5, -1.5), 61    # of a plane, in units of the perturbation; cells a side


def png(image: torch.Tensor) -> str:
    """An image [C, H, W] in [0, 1] as the address of a PNG that lies in the page itself."""
    from torchvision.transforms.functional import to_pil_image  # here: it takes a second to import
    image = image.detach().cpu()[:3 if len(image) >= 3 else 1]
    if (side := max(image.shape[1:])) > SIDE:
        size = [max(1, round(length * SIDE / side)) for length in image.shape[1:]]
        image = torch.nn.functional.interpolate(image[None], size, mode="area")[0]
    file = io.BytesIO()
    to_pil_image((255 * image.clamp(0, 1)).round().byte()).save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


def chosen(correct: torch.Tensor, y: torch.Tensor) -> list[int]:
    """Places of the images to show: correct ones first, and of these one of each class."""
    before = [int((y[:i][correct[:i]] == label).sum()) for i, label in enumerate(y)]
    return sorted(range(len(y)), key=lambda i: (not correct[i], before[i]))[:EXAMPLES]


def examples(task: Task, nearest: torch.Tensor, norm: torch.Tensor) -> list[dict[str, Any]]:
    """The images `shown` of a task, each with its nearest adversarial one, their difference and a plane.

    nearest, norm  the images [N, C, H, W], and the norms [N] of their perturbations; nan where there is none
    """
    entries: list[dict[str, Any]] = []
    for row in task.shown:
        x, z = task.x[row], nearest[row]
        entry = {"row": task.rows[row], "label": int(task.y[row]), "clean": png(x),
                 "predicted": int(inference.labels(task.model, z[None])), "norm": None}
        if norm[row].isfinite():
            change = z - x
            largest = float(change.abs().max())
            entry |= {"norm": float(norm[row]), "adversarial": png(z), "largest": largest,
                      "difference": png(0.5 + change / (2 * largest))}
            if sum("plane" in other for other in entries) < PLANES:
                entry["plane"] = plane(task, x, change)
        entries.append(entry)
    return entries


def plane(task: Task, x: torch.Tensor, change: torch.Tensor) -> list[list[int]]:
    """Labels in the plane through an image [C, H, W] along a perturbation and a random direction.

    The random direction has the same norm and is orthogonal to the perturbation. Rows from top to bottom;
    pixels are cut to [0, 1].
    """
    other = torch.randn(x.shape, generator=task.generator("plane")).to(x)
    other -= change * (other * change).sum() / change.square().sum()
    other *= change.norm() / other.norm()
    across = torch.linspace(*ACROSS, CELLS, device=x.device).view(-1, 1, 1, 1)
    return [inference.labels(task.model, (x + across * change + up * other).clamp(0, 1)).tolist()
            for up in torch.linspace(*UP, CELLS).tolist()]
