"""Susceptibility of a trained model: to an attack along the gradient, and to random perturbations as long.

Sutton et al. (`sutton`), Sections 7.1.2 and 7.1.3, equations (6) to (8). `susceptibility` is for any model;
`measure` gives the same as plain numbers for the tables of the paper.
"""
import contextlib
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from shared import inference
from shared.attacks.line import gradients, lost_margin, scalings, smallest_steps, squared_error, unit
from shared.attacks.noise import draw, random_flips
from shared.attacks.threat import L2
from shared.inference import Careful, check_images, checked_logits, frozen, label_margins, pixels
from shared.runtime import UserError, seeded
from shared.statistics import share_interval


@dataclass(frozen=True, eq=False)
class Susceptibility:
    """What an attack and random perturbations of its size did to N images."""
    correct: torch.Tensor   # bool [N]: of a margin above 0; only these are attacked
    attack: torch.Tensor    # float32 [N]: Euclidean norm of the smallest attack found, nan where none is
    vanished: torch.Tensor  # bool [N]: correct, and the gradient is exactly 0 or not finite: no attack tried
    random: torch.Tensor    # float32 [D, N]: norm of the smallest random perturbation that changes the class
    deltas: tuple           # D sizes of random perturbations, in lengths of the image's attack
    draws: int              # random perturbations tried of each size
    passes: int             # images classified in the searches; not gradients, not what is decided twice

    @property
    def adversarial_share(self):
        """`percentage` of the correct images that have an attack, equation (7)."""
        return percentage(int(self.attack.isfinite().sum()), int(self.correct.sum()))

    @property
    def random_shares(self):
        """List of `percentage` of the images with an attack that random perturbations flip, equation (8)."""
        of = int(self.attack.isfinite().sum())
        return [percentage(int(row.isfinite().sum()), of) for row in self.random]


def susceptibility(model, x, y, *, generator, draws=2000, deltas=(1, 2, 5, 10), count=256, largest=5.0,
                   loss=squared_error, bf16=False, clip=False):
    """Attack each correctly classified image along its gradient, then perturb it at random: `Susceptibility`.

    model      any callable as `shared.inference` says
    x, y       float32 images [N, C, H, W] in [0, 1]; their classes, int64 [N]
    generator  CPU generator of the random perturbations, the same ones for every image and size
    draws, deltas    perturbations of each size, uniform in a ball of radius delta times the attack's norm
    count, largest   of the steps tried along the gradient: equally spaced from 0 to `largest`
    loss       what the attack climbs, `squared_error` as in the paper, or `lost_margin`: it does not vanish
    bf16       decide in bfloat16 where that is safe (`Careful`), on devices that have it
    clip       cut attacked and perturbed images to [0, 1], unlike the paper; norms are those of what is left
    Raises UserError for images, labels or a model that are not so, NotFinite for one that is not finite
    outside of [0, 1], where it needs clip=True.
    """
    if draws < 1 or count < 2 or not deltas or not all(0 < size < math.inf for size in (largest, *deltas)):
        raise UserError(f"draws={draws}, count={count}, largest={largest}, deltas={deltas}: draws from 1, "
                        "count from 2, sizes above 0 are needed")
    generator = seeded(generator, "susceptibility")
    x = check_images(x, y)
    with frozen(model):
        correct = label_margins(checked_logits(model, x, y), y) > 0
        images, labels = x[correct], y[correct]
        points = draw(draws, x.shape[1:], generator, device=x.device)
        careful = Careful.measured(model, images, labels) if bf16 and len(images) else Careful(model)
        slopes, _ = gradients(model, images, labels, loss)
        direction, norms = unit(slopes)
        sizes = scalings(count, largest)
        with _named_outside(clip):
            steps = smallest_steps(careful.flips, images, labels, direction, sizes, clip=clip)
        hit = steps.success
        size = steps.size[hit]
        if clip:
            moved = images[hit] + size.view(-1, 1, 1, 1) * direction[hit]
            size = (moved.clamp(0, 1) - images[hit]).flatten(1).norm(dim=1)
        with _named_outside(clip):
            by_size = [random_flips(careful.flips, images[hit], labels[hit], size, points, delta, clip=clip)
                       for delta in deltas]

    def placed(rows, values):
        whole = x.new_full((len(x),), torch.nan)
        whole[rows] = values.to(whole)
        return whole

    attacked = correct.nonzero()[:, 0][hit]
    random = []
    for delta, flips in zip(deltas, by_size):
        turned, first = (flips.first < draws).to(x.device), flips.first[flips.first < draws].to(x.device)
        norm = delta * size[turned] * points.l2.to(x.device)[first]
        if clip:
            start, radius = images[hit][turned], (delta * size[turned]).view(-1, 1, 1, 1)
            norm = L2().distance(start, (start + radius * points.points[first]).clamp(0, 1))
        random.append(placed(attacked[turned], norm))
    vanished = torch.zeros_like(correct)
    vanished[correct] = (norms == 0).to(x.device)
    inference.warn_of("susceptibility", vanished)
    return Susceptibility(correct, placed(attacked, size), vanished, torch.stack(random), tuple(deltas),
                          draws, steps.passes + sum(flips.passes for flips in by_size))


@contextlib.contextmanager
def _named_outside(clip):
    """Inside, a model that is finite on the images, and not on those moved out of [0, 1], is told so."""
    try:
        yield
    except inference.NotFinite as error:
        if clip:
            raise
        raise inference.NotFinite("the model returns nan or infinite logits for images that attack or noise "
                                  "moved out of [0, 1], as in the paper; clip=True cuts them") from error


# ---- as plain numbers, for the tables of `sutton` ----------------------------------------------------------
class Attacked(NamedTuple):
    """Images of one set on which an attack was found, in the set's order."""
    rows: torch.Tensor        # int64 [N]: places in the set
    images: torch.Tensor      # float32 [N, 3, H, W]
    labels: torch.Tensor      # int64 [N]
    direction: torch.Tensor   # float32 [N, 3, H, W]
    size: torch.Tensor        # float32 [N]


def measure(careful, x, y, points, deltas, *, images_attack, images_random, generator, device):
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


def audit(careful, attacked, points, deltas, *, generator, images=1000):
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


def percentage(hits, of, *, confidence=0.95):
    """`hits` of `of` images in per cent, with the Clopper-Pearson interval; None of no images."""
    if of == 0:
        return {"hits": 0, "of": 0, "percent": None, "low": None, "high": None}
    low, high = share_interval(hits, of, confidence=confidence)
    return {"hits": hits, "of": of, "percent": 100 * hits / of, "low": 100 * low, "high": 100 * high}
