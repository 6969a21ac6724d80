"""The instruments of a report card: each gives measures of a task, one after the other, and warns by name."""
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import torch

from .. import borderline, inference, regions, roby, runtime
from ..attacks.directions import directions
from ..attacks.gradient import PGD
from ..attacks.judge import Attack, Result
from ..attacks.line import LineSearch, lost_margin
from ..attacks.noise import RandomSearch
from ..attacks.optimised import CarliniWagner
from ..attacks.square import SquareSearch
from ..attacks.threat import L2, Linf, Threat, per_image
from ..boundary import purity, survey
from ..inference import Model
from ..runtime import UserError
from ..susceptibility import susceptibility
from .measures import SYMBOLS, Measure, calibration, magnitude, quantile, resampled, share
from .pictures import examples

REGIONS, STARTS = 20, 40    # images with a region of adversarial examples, and attacks on each
NORMS = {"Linf": Linf, "L2": L2}
WINDOWS = {"matlab": "Gaussian windows, as in MATLAB", "skimage": "Gaussian windows, as in scikit-image",
           "uniform": "uniform windows of 7 × 7"}    # of SSIM
PASSES = 3      # what a gradient costs, in forward passes: the black-box search has as many as PGD
STEPS, DRAWS = 20, 100      # of PGD from each start; of random perturbations
FACTORS = 0.25, 0.5, 1.0, 2.0, 4.0      # sizes of perturbations in the picture, over that of the card


@dataclass
class Section:
    """What one instrument measures of one model."""
    title: str
    meaning: str                # of its numbers, for a reader
    measures: list[Measure] = field(default_factory=list)
    seconds: float = 0.0
    error: str = ""             # why the instrument stopped; measures before that stay
    warnings: dict[str, str] = field(default_factory=dict)  # {name: one sentence}
    pictures: dict[str, Any] = field(default_factory=dict)  # {name: plain values that a picture draws}


class Task:
    """What the instruments work on: a model, its images, and the settings that follow from them.

    `warnings` holds what the present instrument warns of, {name: sentence}, `pictures` what it draws; `shown`
    are the images in the pictures, by their places among the attacked ones.
    """

    def __init__(self, model: Model, x: torch.Tensor, y: torch.Tensor, retrained: list[Model],
                 settings: dict[str, Any]) -> None:
        self.model, self.retrained, self.all, self.warnings = model, retrained, (x, y), {}
        self.pictures: dict[str, Any] = {"curves": []}
        self.shown: list[int] = []
        self.seed, self.restarts, self.window = (settings[k] for k in ("seed", "restarts", "ssim_convention"))
        rows = torch.randperm(len(x), generator=self.generator("images"))[:settings["images"]].sort().values
        self.x, self.y = x[rows.to(x.device)], y[rows.to(x.device)]     # drawn: a file may be sorted by class
        self.rows = rows.tolist()
        self.threat, self.l2 = NORMS[settings["norm"]](settings["eps"]), L2(settings["l2"])

    def generator(self, *labels: object) -> torch.Generator:
        return runtime.generator(self.seed, "card", *labels)

    @cached_property
    def correct(self) -> torch.Tensor:
        """Which images are classified correctly, bool [N]: what takes long is spent on these alone."""
        return inference.labels(self.model, self.x) == self.y

    def placed(self, values: torch.Tensor) -> torch.Tensor:
        """Values of the correct images, at their places among all; nan elsewhere."""
        return values.new_full(self.y.shape, torch.nan).masked_scatter(self.correct, values)

    def attacks(self, factor: float = 1.0) -> dict[str, Attack]:
        """The attacks with their settings, for perturbations of `factor` times the card's sizes."""
        l2 = L2(factor * self.l2.size)
        threat = type(self.threat)(factor * self.threat.size) if self.possible(factor) else self.threat
        return {"pgd": PGD(threat, STEPS, threat.size / 5),
                "black_box": SquareSearch(threat, PASSES * STEPS * self.restarts),
                "noise": RandomSearch(threat, DRAWS),
                # At a larger rate steps end beyond the near boundaries of colour images.
                "cw": CarliniWagner(rate=0.2 if self.x.shape[1] == 1 else 0.003, c=1.0, searches=3,
                                    iterations=100),
                "line": LineSearch(512, largest=10.0, loss="margin"),
                "noise_l2": RandomSearch(l2, DRAWS)}

    def attack(self, name: str, rows: torch.Tensor | None = None, factor: float = 1.0) -> Result:
        """The `Result` of one of the `attacks` on some of the images; of PGD, from `restarts` random starts.

        Of these the first that succeeds on an image counts.
        """
        def once(rows, *labels):
            return self.attacks(factor)[name](self.model, self.x[rows], self.y[rows],
                                              generator=self.generator(name, *labels))

        rows = torch.arange(len(self.x), device=self.x.device) if rows is None else rows
        result = once(rows)
        for start in range(1, self.restarts if name == "pgd" else 1):
            left = (result.was_correct & ~result.success).nonzero()[:, 0]
            if len(left):
                again = once(rows[left], start)
                for part in ("x_adv", "success", "distance", "no_gradient"):
                    getattr(result, part)[left] = getattr(again, part)
                result.passes[left] += again.passes
        return result

    @cached_property
    def attacked(self) -> Result:
        """The `Result` of PGD of the card's size."""
        return self.attack("pgd")

    def reach(self, name: str, whole: Result) -> torch.Tensor:
        """The least of `FACTORS` at which an attack flips each image [N]: 0 without it, inf at none.

        `whole` is its result at 1. Smaller sizes are tried where the next larger one succeeds, larger ones
        where it fails.
        """
        least = torch.where(whole.was_correct, torch.where(whole.success, 1.0, torch.inf), 0.0)
        for factor in (0.5, 0.25, 2.0, 4.0):
            rows = (least == (2 * factor if factor < 1 else torch.inf)).nonzero()[:, 0]
            if len(rows) and (name == "noise_l2" or self.possible(factor)):
                least[rows[self.attack(name, rows, factor).success]] = factor
        return least

    def possible(self, factor: float) -> bool:
        """Whether a perturbation may be so large: no pixel moves by more than 1."""
        return not isinstance(self.threat, Linf) or factor * self.threat.size <= 1

    def curve(self, attack: str, threat: Threat, reach: torch.Tensor) -> None:
        """Enter the share of images that stay correct up to each size, from `reach` [N] in units of it."""
        points = [(f * threat.size, share("", "", reach > f)) for f in (0.0, *FACTORS)
                  if threat is self.l2 or self.possible(f)]
        self.pictures["curves"].append({"attack": attack, "norm": threat.norm, "points": [
            {"size": size, "value": m.value, "low": m.low, "high": m.high, "n": m.n} for size, m in points]})


def shown(threat: Threat) -> str:
    """A threat as a reader knows it, such as "L∞ ≤ 8/255"."""
    return f"{SYMBOLS[threat.norm]} ≤ {magnitude(threat.norm, threat.size)}"


def usual(shape: list[int]) -> dict[str, Any]:
    """The settings with which the known networks were measured, for images of this shape."""
    return {"norm": "Linf", "eps": 0.1 if shape[0] == 1 else 8 / 255, "restarts": 5,
            "ssim_convention": "matlab"}


def survivors(name: str, result: Result, words: str) -> Measure:
    """The share of images that are classified correctly before and after an attack."""
    return share(name, f"correct under {words}", result.was_correct & ~result.success, better="higher")


def without_example(result: Result) -> torch.Tensor:
    """Of which images a search of any distance ended without an example, bool [N]."""
    return result.not_found & result.was_correct


# ---- the instruments -------------------------------------------------------------------------------------
def accuracy(task: Task) -> Iterator[Measure]:
    """Accuracy and calibration on all images; warns of a constant as good, and of missing classes."""
    x, y = task.all
    scores = inference.checked_logits(task.model, x, y)
    result = share("accuracy", "classified correctly", scores.argmax(1) == y, better="higher")
    yield result
    values = calibration(scores, scores.argmax(1) == y, task.generator("calibration"))
    yield resampled("calibration_error", "expected calibration error (0: confidence equals accuracy in each "
                    "of 15 bins)", *values, len(x), least=0.0)
    counts = y.unique(return_counts=True)[1]
    if result.low is not None and result.low <= float(counts.max()) / len(y):
        task.warnings["no-better-than-chance"] = (
            f"{result.value:.1%} of the images are classified correctly, {float(counts.max()) / len(y):.1%} "
            "belong to the most frequent class: these images do not show that the model classifies better "
            "than a constant, and no distance or share below shows robustness. Check the order of the "
            "classes and the normalisation (mean and std).")
    if absent := scores.shape[1] - len(counts):
        task.warnings["missing-classes"] = (
            f"{absent} of the model's {scores.shape[1]} classes have no image here; the card says nothing "
            "about them. Add images of these classes.")


def fixed_size(task: Task) -> Iterator[Measure]:
    """Shares that stay correct under noise, a black-box search and PGD of the card's size."""
    size = shown(task.threat)
    # Those without gradients first: a model may have none.
    noise = task.attack("noise")
    yield survivors("noise_accuracy", noise, f"each of {DRAWS} draws of noise ({size})")
    task.curve("noise", task.threat, task.reach("noise", noise))
    yield survivors("black_box_accuracy", task.attack("black_box"),
                    f"a black-box search ({size}, {PASSES * STEPS * task.restarts} forward passes)")
    starts = f", {task.restarts} starts" if task.restarts > 1 else ""
    yield survivors("pgd_accuracy", task.attacked, f"PGD ({size}, {STEPS} steps{starts})")
    task.curve("PGD", task.threat, task.reach("pgd", task.attacked))


def nearest(task: Task) -> Iterator[Measure]:
    """Share that stays correct, and quantiles of the norm, under attacks that minimise it."""
    size = shown(task.l2)
    noise = task.attack("noise_l2")
    yield survivors("noise_accuracy_l2", noise, f"each of {DRAWS} draws of noise ({size})")
    if not isinstance(task.threat, L2):     # else the curve is there
        task.curve("noise", task.l2, task.reach("noise_l2", noise))
    rows = task.correct.nonzero()[:, 0]
    with warnings.catch_warnings():     # below, of both searches together
        warnings.simplefilter("ignore", inference.NoExample)
        search, line = task.attack("cw", rows), task.attack("line", rows)
    norm = task.placed(torch.fmin(search.distance, line.distance))
    for name, result in (("Carlini-Wagner", search), ("gradient step", line)):
        reach = torch.where(task.correct, torch.inf, 0.0)
        reach[rows] = result.distance.nan_to_num(torch.inf) / task.l2.size
        task.curve(name, task.l2, reach)
    searched, stepped = (curve["points"][1 + FACTORS.index(1)]["value"]
                      for curve in task.pictures["curves"][-2:])
    if stepped < searched:
        task.warnings["weak-search"] = (
            f"Carlini-Wagner leaves {searched:.1%} of the images correct ({size}), a step along the gradient "
            f"{stepped:.1%}: the search is the weaker of the two on this model. The nearer of both counts, "
            "image by image; a search made for this model may find more.")
    nearest, steps = task.x.clone(), line.distance.nan_to_num(torch.inf)
    nearer = per_image(steps < search.distance.nan_to_num(torch.inf), line.x_adv)
    nearest[rows] = torch.where(nearer, line.x_adv, search.x_adv)
    if missed := int(without_example(search).sum()):
        rest = int((without_example(search) & without_example(line)).sum())
        task.warnings["no-example"] = (
            f"The Carlini-Wagner search ended without an adversarial image of any norm for {missed} of "
            f"{len(search.success)} correct images; for {rest} of these {missed} a step along the gradient "
            "found none, either. That shows no robustness, but a search that these settings or this model's "
            "gradients mislead. An attack made for this model is needed.")
    yield share("cw_accuracy", f"correct under Carlini-Wagner and a step along the gradient ({size})",
                task.correct & ~(norm <= task.l2.size), better="higher")
    label = "norm of the smallest adversarial perturbation found, {}"
    yield quantile("cw_distance", label.format("median"), norm, "L2", better="higher")
    for p in (10, 90):
        yield quantile(f"cw_distance_{p}", label.format(f"{p}% quantile"), norm, "L2", p / 100,
                       better="higher")
    task.pictures["examples"] = examples(task, nearest, norm)


def random_noise(task: Task) -> Iterator[Measure]:
    """Share that a step along the gradient flips; of these, shares that noise of like norm flips."""
    result = susceptibility(task.model, task.x, task.y, generator=task.generator("susceptibility"),
                            draws=DRAWS, steps=512, largest=10.0, loss=lost_margin)
    hit = result.attack.isfinite()
    yield share("susceptible", "correct images that a step of at most 10 along the gradient flips", hit,
                result.correct)
    label = "also flipped by one of {} noise samples of {} × the norm of that step"
    for delta, row in zip(result.deltas, result.random):
        yield share(f"noise_{delta}", label.format(result.draws, delta), row.isfinite(), hit)


def distances(task: Task) -> Iterator[Measure]:
    """Median boundary distance in random directions, share of censored images, median purity."""
    count = min(25, task.x[0].numel())
    dirs = directions(task.x[0].numel(), count, negatives=True, generator=task.generator("directions"))
    result = survey(task.model, task.x[task.correct], dirs, step=0.02, top=0.5)
    pure = torch.where(result.censored, torch.nan, purity(result, 1)[:, 0])
    norm = result.top * task.x[0].numel() ** 0.5
    label = (f"nearest boundary in {len(dirs)} random directions, median (root mean square over pixels, "
             f"searched up to {result.top:g}, which is an L2 norm of {norm:.1f})")
    yield quantile("boundary_distance", label, task.placed(result.nearest), "RMS", better="higher")
    yield share("boundary_censored", f"images without a boundary up to {result.top:g} RMS",
                task.placed(result.censored.float()) == 1, task.correct, better="higher")
    yield quantile("purity", "of the directions that reach a boundary, the share that enters the most "
                   "frequent class, median", task.placed(pure), "")


def pairs(task: Task) -> Iterator[Measure]:
    """Median similarity of borderline pairs with other classes, share of searches that converge."""
    partners = borderline.backgrounds("digit", task.x, task.y, task.generator("partners"))
    result = borderline.search(task.model, task.x, partners, threshold=0.99, max_iterations=20,
                               ssim_convention=task.window)
    searched = ~result.excluded
    values = torch.where(searched, result.robustness, torch.nan)
    yield quantile("borderline_similarity", "similarity to the source where the label changes, median "
                   f"(SSIM, {WINDOWS[task.window]})", values, "SSIM", better="lower")
    yield share("borderline_converged", "searches that end with two images of different labels and an SSIM "
                "of 0.99 or more", result.converged, searched)


def clusters(task: Task) -> Iterator[Measure]:
    """ROBY and overlap of the classes of the logits, with resamples of the images."""
    x, y = task.all
    scores, classes = inference.logits(task.model, x), y.unique(return_inverse=True)[1]
    result = roby.roby(roby.layout(scores, classes))
    drawn = roby.bootstrap(scores, classes, draws=200, generator=task.generator("roby"))
    names = list(type(result).__dataclass_fields__)

    def of(name, label):
        values = drawn[:, names.index(name)].numpy()
        return resampled(name, label, getattr(result, name), values, len(x), better="lower")

    yield of("roby", "ROBY: overlap of two classes, from the model's least (0) to its largest (1)")
    yield of("overlap", "overlap of the classes over the distance of their centres (below 0: apart)")


def retrainings(task: Task) -> Iterator[Measure]:
    """Transfer of PGD images to re-trained models, disagreement, errors in boxes of examples."""
    models, count = [task.model, *task.retrained], len(task.retrained)
    hit = task.correct & task.attacked.success
    clean, moved = (regions.answers(models, images) for images in (task.x, task.attacked.x_adv))
    inside = torch.full((len(models), len(task.x)), torch.nan, dtype=torch.float64)
    for row in hit.nonzero()[:REGIONS, 0].tolist():
        x, y, draws = task.x[row:row + 1], task.y[row:row + 1], task.generator("region", row)
        examples = regions.sweep(task.model, x, y, task.attacks()["pgd"], count=STARTS,
                                 generator=draws).images
        if len(examples) > 1:
            box = regions.intervals(x, examples, keep=0, least=2)
            inside[:, row] = regions.error_rates(models, box.sample(200, generator=draws), y)
    others = f"all {count} re-trainings" if count > 1 else "the re-training"
    yield share("transfer", f"PGD images that {others} misclassify, too", (moved[1:] != task.y).all(0), hit,
                better="lower")
    yield share("alarm_adversarial", "PGD images on which the model and its re-trainings disagree",
                (moved != moved[0]).any(0), hit)
    yield share("alarm_clean", "clean images on which they disagree", (clean != clean[0]).any(0),
                task.correct)
    yield quantile("region", f"share of the points between {STARTS} PGD images of one image that the model "
                   f"misclassifies, median of at most {REGIONS} images", inside[0], "")
    yield quantile("region_transfer", "the same share for the re-training that errs least, median",
                   inside[1:].amin(0), "", better="lower")


class Instrument(NamedTuple):
    """A section of the card."""
    title: str
    measures: Callable[[Task], Iterator[Measure]]
    names: str          # of the measures, in the order of the card
    meaning: str        # and what a large value means


SECTIONS = (
    Instrument(
        "Accuracy", accuracy, "accuracy calibration_error",
        "The share of images that get their label, and how far the probabilities of the model's labels lie "
        "from the shares that are correct."),
    Instrument(
        "Perturbations of one size", fixed_size, "pgd_accuracy black_box_accuracy noise_accuracy",
        "PGD follows the gradient to a perturbation that changes the label. The black-box search costs as "
        "much (a gradient counts as three forward passes); noise is uniform among the perturbations of this "
        "size. Pixels lie from 0 to 1. An image that is misclassified without any perturbation counts as "
        "misclassified."),
    Instrument(
        "Nearest adversarial image", nearest,
        "cw_accuracy noise_accuracy_l2 cw_distance cw_distance_10 cw_distance_90",
        "The Carlini-Wagner attack minimises the norm of the perturbation; where a step along the gradient "
        "is shorter, that step counts. A larger norm is better."),
    Instrument(
        "Noise against an attack", random_noise, "susceptible noise_1 noise_2 noise_5 noise_10",
        "A step along the gradient is lengthened until the label changes. For the images where it does: the "
        "share whose label also changes under noise, uniform in an L2 ball of that step's norm or of a "
        "multiple. A robust model needs longer steps, and longer noise changes more labels: neither more nor "
        "less is better. Only here may pixels leave the range from 0 to 1."),
    Instrument(
        "Boundary distances", distances, "boundary_distance boundary_censored purity",
        "How far a correctly classified image moves in a random direction until its label changes. A larger "
        "distance is better."),
    Instrument(
        "Borderline pairs", pairs, "borderline_similarity borderline_converged",
        "An image is mixed with one of another class until the model's label changes, right or wrong as it "
        "was. A lower similarity is better: the image must change more."),
    Instrument(
        "How classes lie", clusters, "roby overlap",
        "Widths and distances of the classes among the logits, without an attack. Smaller is meant to be "
        "better, where the attacks above agree."),
    Instrument(
        "Re-trainings", retrainings, "transfer alarm_adversarial alarm_clean region region_transfer",
        "Whether networks trained in the same way from other seeds make the same mistakes: on one "
        "adversarial image each, and in the region between many of one image. Where they disagree on "
        "adversarial images and agree on clean ones, disagreement may expose an attack."))


# ---- one of them, whatever it does -----------------------------------------------------------------------
def section(instrument: Instrument, task: Task) -> Section:
    """What an instrument measures; why it stopped stands in its section."""
    start, result = runtime.clock(), Section(instrument.title, instrument.meaning)
    task.warnings, task.pictures = result.warnings, result.pictures
    task.pictures["curves"] = []
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            for measure in instrument.measures(task):
                result.measures.append(measure)
    except Exception as error:      # of the model's own code, too: the other sections go on
        result.error = str(error) if isinstance(error, UserError) else one_line(error)
        if isinstance(error, inference.ModelError):
            result.warnings[dashed(type(error))] = str(error)
    for warning in heard:
        if warning.category.__module__ == inference.__name__:
            result.warnings.setdefault(dashed(warning.category), str(warning.message))
    result.measures.sort(key=lambda measure: instrument.names.split().index(measure.name))
    result.seconds = round(runtime.clock() - start, 1)
    return result


def dashed(kind: type) -> str:
    """The name of a warning, from that of its class: "no-gradient"."""
    name = kind.__name__.replace("Usable", "")      # a gradient of 0 is as useless as none
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


def one_line(error: BaseException) -> str:
    """An exception of somebody else's code in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
