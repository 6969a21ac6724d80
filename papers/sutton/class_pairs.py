"""Susceptibility of the images of a class pair, as plain numbers for the tables of `sutton` (Section 7.1)."""
from typing import NamedTuple

import numpy as np
import torch

from shared.attacks.line import gradients, lost_margin, scalings, smallest_steps, squared_error, unit
from shared.attacks.noise import random_flips
from shared.inference import label_margins, pixels
from shared.susceptibility import percentage


class Attacked(NamedTuple):
    """Images of one set on which an attack was found, in the set's order."""
    rows: torch.Tensor        # int64 [N]: places in the set
    images: torch.Tensor      # float32 [N, 3, H, W]
    labels: torch.Tensor      # int64 [N]
    direction: torch.Tensor   # float32 [N, 3, H, W]
    size: torch.Tensor        # float32 [N]


def measure_images(careful, x, y, points, deltas, *, images_attack, images_random, generator, device):
    """What `measure_pair` returns of one set, uint8 images x [N, 3, H, W], labels y; and its `Attacked`."""
    correct = careful.margins(x.to(device), y) > 0
    rows = torch.randperm(len(x), generator=generator)[:images_attack].sort().values
    tried = rows[correct[rows]]
    images, labels = pixels(x[tried].to(device)), y[tried].to(device)
    result = {"accuracy": percentage(int(correct.sum()), len(x)), "tried": len(tried)}

    slopes, _ = gradients(careful.net, images, labels, squared_error)
    direction, norms = unit(slopes)
    of_loss = smallest_steps(careful.flips, images, labels, direction, scalings())
    result |= {"saturated": int((norms == 0).sum()), "attack": _attack_facts(of_loss, len(rows))}

    slopes, scores = gradients(careful.net, images, labels, lost_margin)
    steepest, slope = unit(slopes)
    # One direction in exact arithmetic: searched again only where float32 bent or lost it.
    bent = (direction * steepest).flatten(1).sum(1) < 1 - 1e-4
    again = smallest_steps(careful.flips, images[bent], labels[bent], steepest[bent], scalings())
    of_logit = _replaced(of_loss, bent, again)
    result["logit_attack"] = _attack_facts(of_logit, len(rows))
    own = [(y.cpu() == label, labels.cpu() == label) for label in (0, 1)]
    result["by_class"] = [
        {"accuracy": percentage(int(correct[all_].sum()), int(all_.sum())), "tried": int(some.sum()),
         "saturated": int((norms.cpu() == 0)[some].sum()),
         **{name: percentage(int(way.success.cpu()[some].sum()), int(some.sum()))
            for name, way in (("attack", of_loss), ("logit_attack", of_logit))}}
        for all_, some in own]

    hit = of_loss.success
    margin = label_margins(scores, labels)[hit].double()
    linear = margin / slope[hit]
    stretch = of_loss.size[hit] / linear
    result |= {"margin": summary(margin), "linear": summary(linear), "stretch": summary(stretch)}

    attacked = Attacked(tried[hit.cpu()], images[hit], labels[hit], direction[hit], of_loss.size[hit])
    some = torch.randperm(len(attacked.rows), generator=generator)[:images_random].sort().values.to(device)
    result["random"], firsts = [], []
    subjects, their, sizes = attacked.images[some], attacked.labels[some], attacked.size[some]
    for delta in deltas:
        flips = random_flips(careful.flips, subjects, their, sizes, points, delta)
        result["random"].append(_random_facts(flips, delta, sizes.cpu(), points))
        firsts.append(flips.first[:500])
    result["sampled"] = {"attack_l2": sizes[:500].cpu().numpy(),
                         "first": torch.stack(firsts).to(torch.int16).numpy()}
    return result, attacked


def summary(values, everything=None):
    """Count, mean, standard deviation (of these values, not of a population behind them) and 101 quantiles.

    everything   number of images of which those without a value count as 0: adds "mean_all" and "std_all"
    """
    values = values.detach().cpu().double()
    moments = {"mean": float(values.mean()), "std": float(values.std(correction=0))} if len(values) else {}
    facts = {"count": len(values), "mean": None, "std": None, **moments, "quantiles": np.empty(0, np.float32)}
    if len(values):
        facts["quantiles"] = np.quantile(values.numpy(), np.linspace(0, 1, 101)).astype(np.float32)
    if everything is not None:
        padded = torch.cat([values, torch.zeros(everything - len(values), dtype=torch.float64)])
        facts |= {"mean_all": float(padded.mean()), "std_all": float(padded.std(correction=0))}
    return facts


def _counts(run):
    return {key: getattr(run, key) for key in ("passes", "needed", "rejudged", "overturned")}


def _attack_facts(steps, everything):
    norms = {name: summary(values[steps.success], everything) for name, values in steps.norms().items()}
    share = percentage(int(steps.success.sum()), len(steps.success))
    return {"susceptibility": share, **_counts(steps), **norms}


def _replaced(old, rows, new):
    """The `Steps` old with that of some rows replaced; the counts are those of the replacement alone."""
    size, success, direction = old.size.clone(), old.success.clone(), old.direction.clone()
    size[rows], success[rows], direction[rows] = new.size, new.success, new.direction
    return new._replace(size=size, success=success, direction=direction)


def _random_facts(flips, delta, sizes, points):
    flipped = flips.first < len(points.points)
    radius, draws = delta * sizes[flipped], flips.first[flipped]
    norms = {name: summary(radius * getattr(points, name)[draws]) for name in ("l1", "l2", "linf")}
    susceptibility = percentage(int(flipped.sum()), len(flipped))
    return {"delta": delta, "susceptibility": susceptibility, **_counts(flips), **norms}


def compare_bf16(careful, attacked, points, deltas, *, generator, images=1000):
    """How many random perturbations bfloat16 alone, and `Careful`, decide otherwise than float32.

    Of `images`, or as many as there are draws.
    """
    images = min(images, len(points.points))
    if len(attacked.rows) == 0:
        return {"images": 0, "bf16": 0, "judge": 0}
    row = torch.randint(len(attacked.rows), (images,), generator=generator)
    step = torch.randint(len(points.points), (images,), generator=generator)
    which = torch.randint(len(deltas), (images,), generator=generator)
    delta = torch.tensor(deltas, dtype=torch.float32)[which]
    device = attacked.images.device
    radius = (delta.to(device) * attacked.size[row.to(device)]).view(-1, 1, 1, 1)
    noisy = attacked.images[row.to(device)] + radius * points.points[step.to(device)]
    labels = attacked.labels[row.to(device)]
    exact = careful.margins(noisy, labels) <= 0
    fast = careful.margins(noisy, labels, bf16=True) <= 0
    return {"images": images, "bf16": int((fast != exact).sum()),
            "judge": int((careful.flips(noisy, labels).flips != exact).sum())}
