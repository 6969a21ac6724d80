"""One binary problem of Section 7: a net for two classes and all that a page needs of it is measured."""
from dataclasses import dataclass, replace

import torch

from papers.sutton import models as sutton
from report import registry
from shared import runtime
from shared.attacks.noise import BallNoise, CubeNoise, draw
from shared.data import sets
from shared.inference import Careful, pixels
from shared.susceptibility import audit, measure
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
                 held_out=None, by_track=False, seed=0, epochs=100, dropout=None, weight_decay=0.0,
                 images_train=None, images_test=None, images_attack=None, images_random=None, draws=2000,
                 deltas=(1, 2, 5, 10), panels=False):
    """Train the net of one binary problem and measure all that tables and figures of Section 7.2 say of it.

    dataset, class_a, class_b, held_out, by_track   see `problem`
    noise           None, "cube" (noise_size is its half-width) or "ball" (its radius), added while training
    epochs          of training; the rate is halved after every fifth of them
    dropout         its share; None takes the architecture's own, 0.4 as in the paper
    weight_decay    of the optimiser: twice the weight penalty of Keras, whose gradient it is
    images_train    training images used; None for all, as in the paper
    images_test     test images used; None for all
    images_attack   images of each set that are attacked, drawn at random; None for all
    images_random   attackable images of each set that are randomly perturbed, drawn at random; None for all
    draws, deltas   how many perturbations, and their sizes in units of each image's attack
    panels          keep one test image of each class for Figures 11 and 12

    Returns a dict of plain numbers and small arrays:
    "dimension"; "doubt" (margin up to which float32 judges again); "audit" (of test images under random
    perturbations, how many bfloat16 and `Careful` decide otherwise than float32); "panels" (see `panel`);
    "train" and "test", each with
        "accuracy"     share of all images, equation (6)
        "tried"        correctly classified images that were attacked
        "saturated"    of these, how many have a gradient of exactly 0
        "attack"       of the loss gradient: "susceptibility" (share of those tried, equation (7)), "passes",
                       "needed", "rejudged", "overturned", and "l1", "l2", "linf": `summary` of the attacks
                       found, and "mean_all", "std_all" over all images, 0 where there is no attack
        "logit_attack" the same for the gradient of the logit, which does not saturate
        "by_class"     a list, one entry a class: "accuracy", "tried", "saturated" as above, and "attack" and
                       "logit_attack": the shares alone
        "random"       a list, one entry a delta: "delta", "susceptibility" (share of the images perturbed,
                       equation (8)), counts as above, "l1", "l2", "linf": `summary` of the smallest flips
        "sampled"      arrays of at most 500 images perturbed: "attack_l2" [m], "first" [deltas, m] (index of
                       the flipping draw by increasing norm; `draws` where there is none)
        "margin", "linear", "stretch"   `summary` over images with an attack: logit margin; that over the norm
                       of its gradient, the distance of a linear net's boundary; attack size over this
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
    recipe = replace(sutton.PAPER, epochs=epochs, milestones=tuple(epochs * k / 5 for k in range(1, 5)),
                     weight_decay=weight_decay)
    net = registry.build(architecture, generator=runtime.generator(*names, "weights"),
                         **({} if dropout is None else {"dropout": dropout}))
    fit(net, x_train, y_train, recipe, generator=runtime.generator(*names, "training"), device=device,
        hook=None if noise is None else NOISES[noise](noise_size))

    # The same perturbations for every image, delta and pair of the seed.
    points = draw(draws, x_train.shape[1:], runtime.generator(seed, "draws"), device=device)
    careful = _careful(net, x_test, y_test, points, runtime.generator(*names, "doubt"))
    result = {"dimension": x_train[0].numel(), "doubt": careful.doubt, "panels": []}
    for part, x, y in (("train", x_train, y_train), ("test", x_test, y_test)):
        generator = runtime.generator(*names, part)
        result[part], attacked = measure(careful, x, y, points, deltas, images_attack=images_attack,
                                         images_random=images_random, generator=generator, device=device)
    result["audit"] = audit(careful, attacked, points, deltas, generator=generator)
    if panels:
        found = [panel(careful, attacked, label, points, deltas[-1]) for label in (0, 1)]
        result["panels"] = [each for each in found if each is not None]
    return result


def _careful(net, x, y, points, generator, *, images=256, radius=50.0):
    """A `Careful` of the net, measured on test images as they are and under noise up to the largest tried.

    That is 10 times 5; on `images` of them, or as many as there are draws.
    """
    rows = torch.randperm(len(x), generator=generator)[:min(images, len(points.points))]
    clean, labels = pixels(x[rows]), y[rows]
    noise = points.points[torch.randint(len(points.points), (len(rows),), generator=generator)].cpu()
    noisy = [clean + size * noise for size in (radius / 50, radius / 10, radius)]
    return Careful.measured(net, torch.cat([clean, *noisy]), labels.repeat(4))


def panel(careful, attacked, label, points, delta, *, tries=100):
    """One of Figures 11 and 12: the first image of a label that some draws flip and some do not.

    "images" float16 [4, 3, H, W]: original, attacked, randomly perturbed and still right, randomly perturbed
    and wrong (the smallest draw of each kind), not clipped; "norms" of the last three's difference from the
    first; "flips": how many of the draws flip the class. None if the first `tries` images are not like that.
    """
    for i in (attacked.labels == label).nonzero()[:tries, 0]:
        one = slice(int(i), int(i) + 1)
        image, size = attacked.images[one], attacked.size[one]
        wrong = _wrong(careful, image, attacked.labels[one], size, points, delta)
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


def _wrong(careful, image, label, size, points, delta):
    """Which of all draws flip one image, bool [draws]."""
    noisy = (image + delta * size * some for some in points.points.split(256))
    return torch.cat([careful.flips(images, label.repeat(len(images))).flips for images in noisy])
