"""The instruments of a report card: each is a function of a task that gives measures and warnings."""
import re
import time
import warnings
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch

from .. import borderline, inference, regions, roby, runtime
from ..attacks.directions import directions
from ..attacks.gradient import PGD
from ..attacks.line import LineSearch, lost_margin
from ..attacks.noise import RandomSearch
from ..attacks.optimised import CarliniWagner
from ..attacks.threat import L2, Linf
from ..boundary import purity, survey
from ..runtime import UserError
from ..susceptibility import susceptibility
from .measures import Measure, quantile, share

REGIONS, STARTS = 20, 40    # images with a region of adversarial examples, and attacks on each


@dataclass
class Section:
    """What one instrument says of one model."""
    title: str
    meaning: str                # of its numbers, for a reader
    measures: list = field(default_factory=list)
    seconds: float = 0.0
    error: str = ""
    warnings: dict = field(default_factory=dict)    # {name: one sentence}


class Task:
    """What the instruments work on: a model, its images, and the settings that follow from them."""

    def __init__(self, model, x, y, images, retrained, seed):
        self.model, self.retrained, self.seed, self.all = model, retrained, seed, (x, y)
        rows = torch.randperm(len(x), generator=self.generator("images"))[:images].sort().values.to(x.device)
        self.x, self.y = x[rows], y[rows]       # drawn: a file may be in the order of its classes
        self.grey, pixels = x.shape[1] == 1, x[0].numel()
        self.linf = 0.1 if self.grey else 8 / 255       # sizes usual for MNIST and for CIFAR
        self.l2 = 1.5 * (pixels / 784) ** 0.5 if self.grey else 0.5 * (pixels / 3072) ** 0.5

    def generator(self, *labels):
        return runtime.generator(self.seed, "card", *labels)

    @cached_property
    def correct(self):
        """Which images are classified correctly, bool [N]: what takes long is spent on these alone."""
        return inference.labels(self.model, self.x) == self.y

    def placed(self, values):
        """Values of the correct images, at their places among all; nan elsewhere."""
        return values.new_full(self.y.shape, torch.nan).masked_scatter(self.correct, values)

    @property
    def pgd(self):
        return PGD(Linf(self.linf), steps=20, step=self.linf / 5)

    @cached_property
    def attacked(self):
        """The `Result` of PGD."""
        return self.pgd(self.model, self.x, self.y, generator=self.generator("pgd"))

    def noise(self, name, threat, size):
        """The share of images that stay correct under random perturbations of the threat, and for which."""
        result = RandomSearch(threat, draws=100)(self.model, self.x, self.y, generator=self.generator(name))
        kept = result.was_correct & ~result.success
        return share(name, f"correct under each of 100 draws of noise ({size})", kept, better="higher"), kept


# ---- the instruments -------------------------------------------------------------------------------------
def accuracy(task):
    x, y = task.all
    scores = inference.checked_logits(task.model, x, y)
    result = share("accuracy", "classified correctly", scores.argmax(1) == y, better="higher")
    warned, counts = {}, y.unique(return_counts=True)[1]
    if result.low <= float(counts.max()) / len(y):
        warned["no-better-than-chance"] = (
            f"{result.value:.1%} of the images are classified correctly, {float(counts.max()) / len(y):.1%} "
            "belong to the most frequent class: the model does not classify better than a constant, and no "
            "distance or share below shows robustness.")
    if absent := scores.shape[1] - len(counts):
        warned["missing-classes"] = (f"{absent} of the model's {scores.shape[1]} classes have no image here; "
                                     "the card says nothing about them.")
    return [result], warned


def fixed_size(task):
    size = f"L∞ ≤ {task.linf:g}" if task.grey else f"L∞ ≤ {255 * task.linf:.0f}/255"
    attacked = task.attacked.was_correct & ~task.attacked.success
    noise, noisy = task.noise("noise_accuracy", Linf(task.linf), size)
    warned = {}
    if noisy.sum() < attacked.sum():
        warned["attack-weaker-than-noise"] = (
            "Random noise changes more labels than PGD at the same size: the gradients mislead the attack, "
            "and accuracy under PGD is no evidence of robustness.")
    label = f"correct under PGD ({size}, {task.pgd.steps} steps)"
    return [share("pgd_accuracy", label, attacked, better="higher"), noise], warned


def nearest(task):
    # At a larger rate steps end beyond the near boundaries of colour images; a line may find nearer ones yet.
    attacks = (CarliniWagner(rate=0.2 if task.grey else 0.003, c=1.0, searches=3, iterations=100),
               LineSearch(512, largest=10.0, loss="margin"))
    norm = task.placed(torch.fmin(*(attack(task.model, task.x[task.correct], task.y[task.correct]).distance
                                    for attack in attacks)))
    size = f"L2 ≤ {task.l2:.2g}"
    return [share("cw_accuracy", f"correct under Carlini-Wagner ({size})", task.correct & ~(norm <= task.l2),
                  better="higher"),
            task.noise("noise_accuracy_l2", L2(task.l2), size)[0],
            quantile("cw_distance", "norm of the smallest adversarial perturbation found, median", norm, "L2",
                     better="higher"),
            *(quantile(f"cw_distance_{p}", f"norm of the smallest adversarial perturbation found, {p}% "
                       "quantile", norm, "L2", p / 100, better="higher") for p in (10, 90))], {}


def random_noise(task):
    result = susceptibility(task.model, task.x, task.y, generator=task.generator("susceptibility"), draws=100,
                            count=512, largest=10.0, loss=lost_margin)
    hit = result.attack.isfinite()
    measures = [share("susceptible", "correct images that a step of at most 10 along the gradient flips", hit,
                      result.correct)]
    label = "of these, flipped by one of {} noise samples of {} × the norm of that step"
    return measures + [share(f"noise_{delta}", label.format(result.draws, delta), row.isfinite(), hit)
                       for delta, row in zip(result.deltas, result.random)], {}


def distances(task):
    count = min(25, task.x[0].numel())
    dirs = directions(task.x[0].numel(), count, negatives=True, generator=task.generator("directions"))
    result = survey(task.model, task.x[task.correct], dirs, step=0.02, top=0.5)
    pure = torch.where(result.censored, torch.nan, purity(result, 1)[:, 0])
    norm = result.top * task.x[0].numel() ** 0.5
    label = (f"nearest boundary in {len(dirs)} random directions, median (searched up to {result.top:g} RMS, "
             f"{norm:.1f} L2)")
    return [quantile("boundary_distance", label, task.placed(result.nearest), "RMS", better="higher"),
            share("boundary_censored", f"images without a boundary up to {result.top:g} RMS",
                  task.placed(result.censored.float()) == 1, task.correct, better="higher"),
            quantile("purity", "of the directions that reach a boundary, the share that enters the most "
                     "frequent class, median",
                     task.placed(pure), "")], {}


def pairs(task):
    partners = borderline.backgrounds("digit", task.x, task.y, task.generator("partners"))
    result = borderline.search(task.model, task.x, partners, threshold=0.99, max_iterations=20)
    searched = ~result.excluded
    values = torch.where(searched, result.robustness, torch.nan)
    return [quantile("borderline_similarity", "similarity to the source where the answer changes, median",
                     values, "SSIM", better="lower"),
            share("borderline_converged", "searches that end with two images of different answers and an "
                  "SSIM of 0.99 or more", result.converged, searched)], {}


def clusters(task):
    x, y = task.all
    scores, classes = inference.logits(task.model, x), y.unique(return_inverse=True)[1]
    result = roby.roby(roby.layout(scores, classes))
    drawn = roby.bootstrap(scores, classes, draws=200, generator=task.generator("roby"))
    names = list(type(result).__dataclass_fields__)

    def of(name, label):
        value, values = getattr(result, name), drawn[:, names.index(name)].numpy()
        # Around the value: a resampled class is narrower than the class itself.
        low, high = value + np.nanquantile(values, (0.025, 0.975)) - np.nanmean(values)
        return Measure(name, label, value, float(low), float(high), len(x), better="lower",
                       draws=values.tolist())

    return [of("roby", "ROBY, its parts scaled within the model"),
            of("overlap", "overlap of the classes over the distance of their centres (below 0: apart)")], {}


def retrainings(task):
    models, count = [task.model, *task.retrained], len(task.retrained)
    hit = task.correct & task.attacked.success
    clean, moved = (regions.answers(models, images) for images in (task.x, task.attacked.x_adv))
    inside = torch.full((len(models), len(task.x)), torch.nan, dtype=torch.float64)
    for row in hit.nonzero()[:REGIONS, 0].tolist():
        x, y, draws = task.x[row:row + 1], task.y[row:row + 1], task.generator("region", row)
        examples = regions.sweep(task.model, x, y, task.pgd, count=STARTS, generator=draws).images
        if len(examples) > 1:
            box = regions.intervals(x, examples, keep=0, least=2)
            inside[:, row] = regions.rates(models, box.sample(200, generator=draws), y)
    others = f"all {count} re-trainings" if count > 1 else "the re-training"
    return [share("transfer", f"PGD images that {others} misclassify, too", (moved[1:] != task.y).all(0), hit,
                  better="lower"),
            share("alarm_adversarial", "PGD images on which the model and its re-trainings disagree",
                  (moved != moved[0]).any(0), hit),
            share("alarm_clean", "clean images on which they disagree", (clean != clean[0]).any(0),
                  task.correct),
            quantile("region", f"share of the points between {STARTS} PGD images of one image "
                     f"that the model misclassifies, median of at most {REGIONS} images", inside[0], ""),
            quantile("region_transfer", "the same share for the re-training that errs least, median",
                     inside[1:].amin(0), "", better="lower")], {}


# Title, function, what it means and what a large value says.
SECTIONS = (
    ("Accuracy", accuracy, "The share of images that get their label."),
    ("Perturbations of one size", fixed_size,
     "PGD follows the gradient to a perturbation that changes the label; noise draws perturbations of the "
     "same size. Pixels lie from 0 to 1. An image that is misclassified without any perturbation counts as "
     "misclassified. A model is only as robust as under the stronger of the two."),
    ("Nearest adversarial image", nearest,
     "The Carlini-Wagner attack minimises the norm of the perturbation; where a step along the gradient is "
     "shorter, that step counts. A larger norm is better."),
    ("Noise against an attack", random_noise,
     "A step along the gradient is lengthened until the label changes. For the images where it does: the "
     "share whose label changes under noise of the norm of that step, and of its multiples. A robust model "
     "needs longer steps, and longer noise changes more labels: no end of these numbers is better."),
    ("Boundary distances", distances,
     "How far a correctly classified image moves in a random direction until its label changes. A larger "
     "distance is better."),
    ("Borderline pairs", pairs,
     "An image is mixed with one of another class until the model's answer changes, right or wrong as it "
     "was. A lower similarity is better: the image must change more."),
    ("How classes lie", clusters,
     "Widths and distances of the classes among the logits, without an attack. Smaller is meant to be "
     "better, where the attacks above agree."),
    ("Re-trainings", retrainings,
     "Whether networks trained in the same way from other seeds make the same mistakes: on one adversarial "
     "image each, and in the region between many of one image. Where they disagree on adversarial images and "
     "agree on clean ones, disagreement may expose an attack."))


# ---- one of them, whatever it does -----------------------------------------------------------------------
def section(title, function, meaning, task):
    """What an instrument says; what it cannot do stands in its section."""
    start, result = time.perf_counter(), Section(title, meaning)
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            result.measures, result.warnings = function(task)
        lost = [str(w.message) for w in heard if issubclass(w.category, inference.NoUsableGradient)]
        result.warnings |= {"no-gradient": lost[0]} if lost else {}
    except inference.LabelOutOfRange:
        raise
    except UserError as error:
        result.error = str(error)
        if isinstance(error, inference.ModelError):
            result.warnings = {re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__).lower(): str(error)}
    except Exception as error:      # of the model's own code: the other sections go on
        result.error = one_line(error)
    result.seconds = round(time.perf_counter() - start, 1)
    return result


def one_line(error):
    """An exception of somebody else's code in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
