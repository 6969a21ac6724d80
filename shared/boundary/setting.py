"""The nets, images and attacks of `he` as the plans of its pages name them (Sections 2 and 3.3).

A `Subject` is a net with the images it is tested on. An attack is one of `shared.attacks.optimised` or
`gradient`; None leaves the image as it is, the paper's benign example.
"""
import dataclasses
from dataclasses import dataclass

import torch

from shared import runtime
from shared.attacks import directions, optimised
from shared.attacks.gradient import FGSM, PGD, Adversarial
from shared.attacks.optimised import CarliniWagner
from shared.attacks.threat import Linf
from shared.boundary import classifier
from shared.data import sets
from shared.models import he
from shared.models.inference import checked_logits, frozen, logits
from shared.models.recipe import Recipe
from shared.training import zoo
from shared.units import handed, once


@dataclass(frozen=True)
class Subject:
    """A net, and the data set it is trained and tested on.

    recipe  how it is trained; None for SqueezeNet with the weights that it is published with (on embedded
            images a small net trained on these)
    hook    the attack on which it is trained, or None
    """
    dataset: str
    architecture: str
    recipe: Recipe | None
    hook: Adversarial | None = None

    def trained(self, seed):
        """The `zoo.Trained` net of that seed, on the run's device."""
        return zoo.net(self.architecture, self.recipe, sets.load(self.dataset), seed, device=runtime.device(),
                       hook=self.hook)

    def model(self, seed):
        """The net of that seed, in eval mode, on the run's device."""
        if self.recipe is None and sets.load(self.dataset).source in ("embedded", "stand-in"):
            return _small(self).trained(seed).net
        if self.recipe is None:
            return he.pretrained_squeezenet().to(runtime.device(), memory_format=torch.channels_last)
        return self.trained(seed).net

    def images(self, first, count):
        """`count` test images from number `first` on, float32 [count, C, H, W] in [0, 1], and their labels.

        In a small embedded set, counting goes on at its beginning where the set ends.
        """
        data = sets.load(self.dataset)
        rows = (first + torch.arange(count)) % len(data.x_test)
        x, y = data.x_test[rows].float() / 255, data.y_test[rows]
        return x.to(runtime.device()), y.to(runtime.device())


def _small(subject):
    """A net that learns embedded images in seconds. (Apart, so that its recipe is no part of other units.)"""
    return dataclasses.replace(subject, architecture="he-tiny", recipe=he.TINY)


@dataclass(frozen=True, eq=False)
class Examples:
    """What an attack makes of n images; of None, the images themselves."""
    x: torch.Tensor         # float32 [n, C, H, W]: what the classifier is given
    counts: torch.Tensor    # bool [n]: the image is classified correctly, and its example is not
    correct: torch.Tensor   # bool [n]: the image is classified correctly
    success: torch.Tensor   # bool [n]: the example has another class than the true one
    passes: torch.Tensor    # int64 [n]: images sent through the model for this one


@once.kept(Examples)  # three pages look at the same ones
def examples(model, x, y, attack, *, iterations, seed):
    """`Examples` of images x with labels y.

    iterations  of each search of an attack by optimisation; others take none
    seed        of OptMargin's noise, which is the same for all images of all calls
    FGSM's image is given to the classifier where it fails, too (Table 2); where a search finds nothing there
    is no image of its own, and the clean one stays.
    """
    if attack is None:
        with frozen(model):
            correct = checked_logits(model, x, y).argmax(1) == y
        return Examples(x, correct, correct, ~correct, torch.zeros_like(y))
    if isinstance(attack, CarliniWagner):
        attack = dataclasses.replace(attack, iterations=iterations)
    found = attack(model, x, y, generator=runtime.generator(seed, "he", "noise"))
    given = found.x_adv
    if isinstance(attack, FGSM):
        with frozen(model):
            moved = runtime.chunked(lambda images, labels: attack.propose(model, images, labels, None)[0],
                                    x, y, chunk=64).clamp(0, 1)
        given = torch.where(found.success[:, None, None, None], given, moved)
    return Examples(given, found.was_correct & found.success, found.was_correct, found.success, found.passes)


def directions_for(x, count, *, negatives, seed):
    """The paper's directions for images like x: one draw for all images and models, float32 [K, d]."""
    drawn = directions.directions(x.shape[1:].numel(), count, negatives=negatives,
                                  generator=runtime.generator(seed, "he", "directions"))
    return drawn.to(x.device)


def learn(given, name, attack, others, *, sample, size, step, share, centre, spread, steps, batch, balanced,
          seed):
    """Errors of the boundary classifier for one net and one training attack, on this attack and on others.

    A unit's function (Sections 5.1 and 5.2); it rests on the units that were handed over as `given`, blocks
    of `size` images with the steps to the boundary and the purities around those that count.

    share  of the images that it is trained on, the first ones in the order of the test set
    Where none of them has a successful example there is no classifier, and nothing is counted.
    """
    blocks = handed.take(given)
    kinds = ("benign", attack, *others)
    there = [b for b in range(-(-sample // size)) if all(f"{name}-{kind}-b{b}" in blocks for kind in kinds)]

    def inputs(result):
        """What the classifier is given for the images of a block; zeros where an image does not count."""
        distances = torch.as_tensor(result["steps"]).float() * step
        distances[torch.as_tensor(result["steps"]) == 255] = 1.0
        rows = torch.cat([(distances - centre) / spread, torch.as_tensor(result["purities"])], 1)
        counts = torch.tensor(result["counts"])
        placed = torch.zeros(len(counts), rows.shape[1])
        placed[counts] = rows
        return placed

    def pairs(kind):
        benign, made = ([blocks[f"{name}-{each}-b{b}"] for b in there] for each in ("benign", kind))
        return classifier.Pairs(torch.cat([inputs(r) for r in benign]), torch.cat([inputs(r) for r in made]),
                                torch.cat([torch.tensor(r["correct"]) for r in made]),
                                torch.cat([torch.tensor(r["success"]) for r in made]))

    if not there:
        raise runtime.UserError(f"no block of {name} has all of {', '.join(kinds)} recorded: compute some "
                                "surroundings first, or ask for another subject")
    mine = pairs(attack)
    count = len(mine.correct)
    train = round(share * count)
    told = {"sample": count, "trained_on": int(mine[:train].kept()[1].sum()), "tested": count - train,
            "inputs": mine.benign.shape[1] - classifier.PURITIES}
    if not told["trained_on"]:
        return told | {"flagged": 0, "benign": 0, "missed": {}, "adversarial": {}}
    net = classifier.train(mine[:train], steps=steps, batch=min(batch, train), balanced=balanced,
                           generator=runtime.generator(seed, "he", "classifier", name, attack))
    errors = {kind: classifier.rates(net, pairs(kind)[train:]) for kind in (attack, *others)}
    return told | {"flagged": errors[attack].flagged, "benign": errors[attack].benign,
                   "missed": {kind: r.missed for kind, r in errors.items()},
                   "adversarial": {kind: r.adversarial for kind, r in errors.items()}}


def under_noise(subject, attack, *, first, images, iterations, noises, radius, seed):
    """How often noisy copies of OptMargin's examples are misread: by its own noises, by others, in a cube.

    A unit's function. Shares of the copies of each image that have another class than the true one; of an
    image without an example, those of the image itself.

    noises  how many others, of the same size as the attack's and at right angles; as many points of the cube
    radius  of region classification's cube, whose points alone are clipped to [0, 1]
    """
    x, y = subject.images(first, images)
    model = subject.model(seed)
    found = examples(model, x, y, attack, iterations=iterations, seed=seed)
    drawn, shape = runtime.generator(seed, "he", "other noises"), x.shape[1:]
    own = attack.noises(shape, runtime.generator(seed, "he", "noise"))
    others = dataclasses.replace(attack, members=noises + 1).noises(shape, drawn)[:-1]
    cube = radius * (2 * torch.rand(noises, *shape, generator=drawn) - 1)

    def misread(images, copies, clipped=False):
        clouds = (images[:, None] + copies.to(x.device)).flatten(0, 1)
        clouds = clouds.clamp(0, 1) if clipped else clouds      # as the attack and as region classification
        return (logits(model, clouds).argmax(1).view(len(x), -1) != y[:, None]).float().mean(1).tolist()

    with frozen(model):
        return {"iterations": iterations, "images": images, "counts": found.counts.tolist(),
                "own": misread(found.x, own), "others": misread(found.x, others),
                "cube": misread(found.x, cube, clipped=True), "clean": misread(x, others)}


# ---- adversarial training --------------------------------------------------------------------------------
# The published attacks: 40 steps of 0.01 on MNIST, 10 of 2/255 on CIFAR-10. The short ones are for a CPU.
MNIST_TRAINING = Adversarial(PGD(Linf(0.3), steps=40, step=0.01))
MNIST_TRAINING_SHORT = Adversarial(PGD(Linf(0.3), steps=7, step=0.1))
CIFAR10_TRAINING = Adversarial(PGD(Linf(8 / 255), steps=10, step=2 / 255))
CIFAR10_TRAINING_SHORT = Adversarial(PGD(Linf(8 / 255), steps=2, step=5 / 255))
SMOKE_TRAINING = Adversarial(PGD(Linf(0.1), steps=1, step=0.1))


# ---- what the pages plan with ----------------------------------------------------------------------------
FIRST = {"mnist": 3152, "cifar10": 5415, "imagenet1000": 0}      # number of the first image of a sample


def subjects(profile):
    """`{"mnist-normal": Subject, ...}` for the four columns of Tables 1 and 2, at a profile's size."""
    if profile == "paper":
        small, large = he.RESNET, he.RESNET_ADVERSARIAL
        return {"mnist-normal": Subject("mnist", "he-mnist", he.NATURAL),
                "mnist-adv": Subject("mnist", "he-mnist", he.ADVERSARIAL_SHORT, MNIST_TRAINING_SHORT),
                "cifar10-normal": Subject("cifar10", "he-resnet", small),
                "cifar10-adv": Subject("cifar10", "he-resnet", large, CIFAR10_TRAINING_SHORT)}
    mnist, harder, tiny = he.QUICK, he.QUICK_ADVERSARIAL, he.TINY
    if profile == "smoke":
        mnist = harder = tiny = he.SMOKE
    return {"mnist-normal": Subject("mnist", "he-mnist", mnist),
            "mnist-adv": Subject("mnist", "he-mnist", harder, SMOKE_TRAINING),
            "cifar10-normal": Subject("cifar10", "he-tiny", tiny),
            "cifar10-adv": Subject("cifar10", "he-tiny", tiny, SMOKE_TRAINING)}


def attacks(dataset, rate=None):
    """`{kind: attack}` of a data set in the order of Table 1, `benign` (None) first.

    rate  of the attacks by optimisation, in place of the authors': a few large steps serve for a quick look
    """
    if dataset == "mnist":
        size = 0.3
        searches = optimised.MNIST_BRITTLE, optimised.MNIST_MARGIN, optimised.MNIST_STRONG
    elif dataset == "cifar10":
        size = 8 / 255
        searches = optimised.CIFAR10_BRITTLE, optimised.CIFAR10_MARGIN, optimised.CIFAR10_STRONG
    else:
        searches, size = (optimised.IMAGENET_BRITTLE, optimised.IMAGENET_MARGIN), 8 / 255
    if rate is not None:
        searches = [dataclasses.replace(attack, rate=rate) for attack in searches]
    return {"benign": None, **dict(zip(("brittle", "margin", "strong"), searches)), "fgsm": FGSM(Linf(size))}
