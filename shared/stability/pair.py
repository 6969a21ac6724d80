"""One binary problem of Section 7: a net for two classes and all that a page needs of it is measured."""
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch

from shared import runtime
from shared.data import sets
from shared.models import registry, sutton
from shared.models.inference import pixels
from shared.stability.attack import attack, gradients, lost_margin, scalings, squared_error, unit
from shared.stability.judge import Judge, label_margins, margins, measured_doubt, percentage
from shared.stability.perturbation import BallNoise, CubeNoise, draw, random_flips
from shared.training.fit import fit, share

NOISES = {"cube": CubeNoise, "ball": BallNoise}


@dataclass(frozen=True, eq=False)
class Problem:
    """Images of two classes with three channels, uint8 [N, 3, H, W], and labels 0 and 1, int64 [N]."""
    x_train: torch.Tensor
    y_train: torch.Tensor
    x_test: torch.Tensor
    y_test: torch.Tensor


def problem(dataset, class_a, class_b, *, held_out=None, by_track=False, seed=0):
    """The `Problem` of a data set's classes a (label 0) and b (label 1).

    dataset    name of a data set (`sets.load`); grey images get three equal channels
    held_out   None for the set's own test images; else two shares in (0, 1): how much of the training images
               of a and of b becomes the test set, and the set's own test images are not used (GTSRB). Drawn
               by the seed and the class, so that problems with a class in common share its split
    by_track   whole tracks (photographs of one physical sign) are held out, until the share is reached
    """
    data = sets.load(dataset)
    for name in (class_a, class_b):
        if not 0 <= name < len(data.classes) or class_a == class_b:
            raise runtime.UserError(f"classes {class_a} and {class_b} of {dataset}; allowed: two different "
                                    f"whole numbers from 0 to {len(data.classes) - 1}")
    train, test = [], []
    for label, index in enumerate((class_a, class_b)):
        own = (data.y_train == index).nonzero()[:, 0]
        if held_out is None:
            train.append(own)
            test.append((data.y_test == index).nonzero()[:, 0])
            continue
        draws = runtime.generator(seed, dataset, "held out", index)
        tracks = data.extra["track_train"][own].long() if by_track else torch.arange(len(own))
        out = _held_out(tracks, held_out[label], draws)
        train.append(own[~out])
        test.append(own[out])
    rest = (data.x_test, data.y_test) if held_out is None else (data.x_train, data.y_train)

    def taken(x, y, rows):
        rows = torch.cat(rows).sort().values
        return x[rows].expand(-1, 3, -1, -1), (y[rows] == class_b).long()

    return Problem(*taken(data.x_train, data.y_train, train), *taken(*rest, test))


def _held_out(tracks, part, generator):
    """Which images are held out, bool [N]: whole tracks in random order, up to nearest the share `part`."""
    names, sizes = tracks.unique(return_counts=True)
    order = torch.randperm(len(names), generator=generator)
    images = sizes[order].cumsum(0)
    taken = int((images - part * len(tracks)).abs().argmin()) + 1
    return torch.isin(tracks, names[order[:taken]])


def measure_pair(dataset, class_a, class_b, *, architecture="sutton-vgg", noise=None, noise_size=0.0,
                 held_out=None, by_track=False, seed=0, epochs=100, images_train=None, images_test=None,
                 images_attack=None, images_random=None, draws=2000, deltas=(1, 2, 5, 10), panels=False):
    """Train the net of one binary problem and measure all that tables and figures of Section 7.2 say of it.

    dataset, class_a, class_b, held_out, by_track   see `problem`
    noise           None, "cube" (noise_size is its half-width) or "ball" (its radius), added while training
    epochs          of training; the rate is halved after every fifth of them
    images_train    training images used; None for all, as in the paper
    images_test     test images used; None for all
    images_attack   images of each set that are attacked, drawn at random; None for all
    images_random   attackable images of each set that are randomly perturbed, drawn at random; None for all
    draws, deltas   how many perturbations, and their sizes in units of each image's attack
    panels          keep one test image of each class for Figures 11 and 12

    Returns a dict of plain numbers and small arrays:
    "dimension"; "doubt" (margin up to which float32 judges again); "audit" (of test images under random
    perturbations, how many bfloat16 and the `Judge` decide otherwise than float32); "panels" (see `panel`);
    "train" and "test", each with
        "accuracy"     share of all images, equation (6)
        "tried"        correctly classified images that were attacked
        "saturated"    of these, how many have a gradient of exactly 0
        "attack"       of the loss gradient: "susceptibility" (share of those tried, equation (7)), "passes",
                       "needed", "rejudged", "overturned", and "l1", "l2", "linf": `summary` of the attacks
                       found, and "mean_all", "std_all" over all images, 0 where misclassified or not
                       attackable
        "logit_attack" the same for the gradient of the logit, which does not saturate
        "by_class"     a list, one entry a class: "accuracy", "tried", "saturated" as above, and "attack" and
                       "logit_attack": the shares alone
        "random"       a list, one entry a delta: "delta", "susceptibility" (share of the images perturbed,
                       equation (8)), counts as above, "l1", "l2", "linf": `summary` of each image's smallest
                       flip
        "sampled"      arrays of at most 500 images perturbed: "attack_l2" [m], "first" [deltas, m] (index of
                       the flipping draw by increasing norm; `draws` where there is none)
        "margin", "linear", "stretch"   `summary` over images with an attack: logit margin; that over the norm
                       of the logit's gradient, the distance to the boundary of a linear net; attack size over
                       this
    """
    if noise is not None and noise not in NOISES:
        raise runtime.UserError(f"noise {noise!r}; allowed: None, {', '.join(NOISES)}")
    device = runtime.device()
    names = (seed, dataset, class_a, class_b)
    data = problem(dataset, class_a, class_b, held_out=held_out, by_track=by_track, seed=seed)
    rows = share(data.y_train, images_train)
    x_train, y_train = data.x_train[rows], data.y_train[rows]
    rows = share(data.y_test, images_test)
    x_test, y_test = data.x_test[rows], data.y_test[rows]
    recipe = replace(sutton.PAPER, epochs=epochs, milestones=tuple(epochs * k / 5 for k in range(1, 5)))
    net = registry.build(architecture, generator=runtime.generator(*names, "weights"))
    fit(net, x_train, y_train, recipe, generator=runtime.generator(*names, "training"), device=device,
        hook=None if noise is None else NOISES[noise](noise_size))

    # The same perturbations for every image, delta and pair of the seed.
    points = draw(draws, x_train.shape[1:], runtime.generator(seed, "draws"), device=device)
    judge = Judge(net, _doubt(net, x_test, y_test, points, runtime.generator(*names, "doubt")))
    result = {"dimension": x_train[0].numel(), "doubt": judge.doubt, "panels": []}
    for part, x, y in (("train", x_train, y_train), ("test", x_test, y_test)):
        generator = runtime.generator(*names, part)
        result[part], attacked = measure(judge, x, y, points, deltas, images_attack=images_attack,
                                         images_random=images_random, generator=generator, device=device)
    result["audit"] = audit(judge, attacked, points, deltas, generator=generator)
    if panels:
        found = [panel(judge, attacked, label, points, deltas[-1]) for label in (0, 1)]
        result["panels"] = [each for each in found if each is not None]
    return result


def _doubt(net, x, y, points, generator, *, images=256, radius=50.0):
    """`measured_doubt` on test images as they are and under noise up to the largest tried, 10 times 5.

    On `images` of them, or as many as there are draws.
    """
    rows = torch.randperm(len(x), generator=generator)[:min(images, len(points.points))]
    clean, labels = pixels(x[rows]), y[rows]
    noise = points.points[torch.randint(len(points.points), (len(rows),), generator=generator)].cpu()
    noisy = [clean + size * noise for size in (radius / 50, radius / 10, radius)]
    return measured_doubt(net, torch.cat([clean, *noisy]), labels.repeat(4))


class Attacked(NamedTuple):
    """Images of one set on which an attack was found, in the set's order."""
    rows: torch.Tensor        # int64 [N]: places in the set
    images: torch.Tensor      # float32 [N, 3, H, W]
    labels: torch.Tensor      # int64 [N]
    direction: torch.Tensor   # float32 [N, 3, H, W]
    size: torch.Tensor        # float32 [N]


def measure(judge, x, y, points, deltas, *, images_attack, images_random, generator, device):
    """What `measure_pair` returns of one set, uint8 images x [N, 3, H, W], labels y; and its `Attacked`."""
    correct = margins(judge.net, x.to(device), y) > 0
    rows = torch.randperm(len(x), generator=generator)[:images_attack].sort().values
    tried = rows[correct[rows]]
    images, labels = pixels(x[tried].to(device)), y[tried].to(device)
    result = {"accuracy": percentage(int(correct.sum()), len(x)), "tried": len(tried)}

    slopes, _ = gradients(judge.net, images, labels, squared_error)
    direction, norms = unit(slopes)
    of_loss = attack(judge, images, labels, direction, scalings())
    result |= {"saturated": int((norms == 0).sum()), "attack": _attack_facts(of_loss, len(rows))}

    slopes, scores = gradients(judge.net, images, labels, lost_margin)
    steepest, slope = unit(slopes)
    # One direction in exact arithmetic: searched again only where float32 bent or lost it.
    bent = (direction * steepest).flatten(1).sum(1) < 1 - 1e-4
    again = attack(judge, images[bent], labels[bent], steepest[bent], scalings())
    of_logit = _replaced(of_loss, bent, again)
    result["logit_attack"] = _attack_facts(of_logit, len(rows))
    own = [(y.cpu() == label, labels.cpu() == label) for label in (0, 1)]
    result["by_class"] = [
        {"accuracy": percentage(int(correct[all_].sum()), int(all_.sum())), "tried": int(some.sum()),
         "saturated": int((norms.cpu() == 0)[some].sum()),
         **{name: percentage(int(way.found.cpu()[some].sum()), int(some.sum()))
            for name, way in (("attack", of_loss), ("logit_attack", of_logit))}}
        for all_, some in own]

    hit = of_loss.found
    margin = label_margins(scores, labels)[hit].double()
    linear = margin / slope[hit]
    stretch = of_loss.size[hit] / linear
    result |= {"margin": summary(margin), "linear": summary(linear), "stretch": summary(stretch)}

    attacked = Attacked(tried[hit.cpu()], images[hit], labels[hit], direction[hit], of_loss.size[hit])
    some = torch.randperm(len(attacked.rows), generator=generator)[:images_random].sort().values.to(device)
    result["random"], firsts = [], []
    subjects, their, sizes = attacked.images[some], attacked.labels[some], attacked.size[some]
    for delta in deltas:
        flips = random_flips(judge, subjects, their, sizes, points, delta)
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


def _attack_facts(found, everything):
    norms = {name: summary(values[found.found], everything) for name, values in found.norms().items()}
    return {"susceptibility": percentage(int(found.found.sum()), len(found.found)), **_counts(found), **norms}


def _replaced(old, rows, new):
    """The `Attack` old with that of some rows replaced; the counts are those of the replacement alone."""
    size, found, direction = old.size.clone(), old.found.clone(), old.direction.clone()
    size[rows], found[rows], direction[rows] = new.size, new.found, new.direction
    return new._replace(size=size, found=found, direction=direction)


def _random_facts(flips, delta, sizes, points):
    flipped = flips.first < len(points.points)
    radius, draws = delta * sizes[flipped], flips.first[flipped]
    norms = {name: summary(radius * getattr(points, name)[draws]) for name in ("l1", "l2", "linf")}
    susceptibility = percentage(int(flipped.sum()), len(flipped))
    return {"delta": delta, "susceptibility": susceptibility, **_counts(flips), **norms}


def audit(judge, attacked, points, deltas, *, generator, images=1000):
    """How many random perturbations bfloat16 alone, and the `Judge`, decide otherwise than float32.

    Of `images`, or as many as there are draws.
    """
    images = min(images, len(points.points))
    if len(attacked.rows) == 0:
        return {"images": 0, "bf16": 0, "judge": 0}
    row = torch.randint(len(attacked.rows), (images,), generator=generator)
    step = torch.randint(len(points.points), (images,), generator=generator)
    delta = torch.tensor(deltas)[torch.randint(len(deltas), (images,), generator=generator)]
    device = attacked.images.device
    radius = (delta.to(device) * attacked.size[row.to(device)]).view(-1, 1, 1, 1)
    noisy = attacked.images[row.to(device)] + radius * points.points[step.to(device)]
    labels = attacked.labels[row.to(device)]
    exact = margins(judge.net, noisy, labels) <= 0
    fast = margins(judge.net, noisy, labels, bf16=True) <= 0
    return {"images": images, "bf16": int((fast != exact).sum()),
            "judge": int((judge(noisy, labels).flips != exact).sum())}


def panel(judge, attacked, label, points, delta, *, tries=100):
    """One of Figures 11 and 12: the first image of a label that some draws flip and some do not.

    "images" float16 [4, 3, H, W]: original, attacked, randomly perturbed and still right, randomly perturbed
    and wrong (the smallest draw of each kind), not clipped; "norms" of the last three's difference from the
    first;
    "flips": how many of the draws flip the class. None if the first `tries` images are not like that.
    """
    for i in (attacked.labels == label).nonzero()[:tries, 0]:
        one = slice(int(i), int(i) + 1)
        image, size = attacked.images[one], attacked.size[one]
        wrong = _wrong(judge, image, attacked.labels[one], size, points, delta)
        if wrong.all() or not wrong.any():
            continue
        steps = torch.stack([(~wrong).int().argmax(), wrong.int().argmax()]).to(image.device)
        moves = torch.cat([size * attacked.direction[one], delta * size * points.points[steps]])
        flat = moves.flatten(1)
        norms = {"l1": flat.abs().sum(1), "l2": flat.norm(dim=1), "linf": flat.abs().amax(1)}
        return {"label": label, "row": int(attacked.rows[i]), "delta": delta, "flips": int(wrong.sum()),
                "draws": len(wrong), "norms": {name: values.tolist() for name, values in norms.items()},
                "images": torch.cat([image, image + moves]).cpu().half().numpy()}
    return None


def _wrong(judge, image, label, size, points, delta):
    """Which of all draws flip one image, bool [draws]."""
    noisy = (image + delta * size * some for some in points.points.split(256))
    return torch.cat([judge(images, label.repeat(len(images))).flips for images in noisy])
