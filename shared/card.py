"""A report card of any model: each instrument on the same images, with intervals, in Python, Jupyter or HTML.

    report = card(model, x, y)                      # in Jupyter it is a page; report.save("card.html")
    report = card({"plain": a, "robust": b}, x, y)  # two models, with the differences on the same images

    python -m shared.card package.module:factory --weights net.safetensors --data images.npz --out card.html

`model` is any callable as `shared.inference` says. Where an instrument fails, its section says why.
"""
import argparse
import importlib
import json
import operator
import re
import sys
import time
import warnings
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from shared import borderline, card_html, inference, regions, roby, runtime
from shared.attacks.directions import directions
from shared.attacks.gradient import PGD
from shared.attacks.line import LineSearch, lost_margin
from shared.attacks.noise import RandomSearch
from shared.attacks.optimised import CarliniWagner
from shared.attacks.threat import L2, Linf
from shared.boundary.survey import purity, survey
from shared.data import archives, content
from shared.runtime import UserError
from shared.statistics import share_interval
from shared.susceptibility import susceptibility

WIDE = 0.25     # width of a share's interval from which the card says that images are few
FEW = 20        # and the number of images below which it says so of a quantile
SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
DRAWS = 1000    # resamples of the images for the interval of a difference
REGIONS, STARTS = 20, 40    # images with a region of adversarial examples, and attacks on each


@dataclass
class Measure:
    """One number of a model, with its 95% interval."""
    name: str                   # as a condition and `card.json` call it
    label: str
    value: float | None         # None: no image allows it
    low: float | None
    high: float | None
    n: int                      # images that it rests on
    unit: str = ""              # "%" (of a share in [0, 1]), "L2", "RMS", "SSIM", or ""
    better: str = ""            # "higher", "lower", or "" where neither is
    images: list = field(default_factory=list)   # its value for each image, None where there is none
    draws: list = field(default_factory=list)    # its values over resamples, where an image has none


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


# ---- statistics ------------------------------------------------------------------------------------------
def share(name, label, hits, among=None, **more):
    """The `Measure` of a share of images, from a bool for each; of those `among` alone, another bool."""
    hits = hits.cpu()
    among = torch.ones_like(hits) if among is None else among.cpu()
    count, n = int(hits[among].sum()), int(among.sum())
    low, high = share_interval(count, n) if n else (None, None)
    return Measure(name, label, count / n if n else None, low, high, n, "%",
                   images=[float(hit) if counts else None for hit, counts in zip(hits, among)], **more)


def quantile(name, label, values, unit, q=0.5, **more):
    """The `Measure` of a quantile, from a value for each image (nan: none); its interval is one of ranks."""
    from scipy.stats import quantile_test  # here: it takes a second to import
    values = values.detach().cpu().double()
    there = values[~values.isnan()]
    if not len(there):
        return Measure(name, label, None, None, None, 0, unit, **more)
    ends = map(float, quantile_test(there.numpy(), p=q).confidence_interval(0.95))   # no law is assumed
    images = [None if np.isnan(v) else v for v in values.tolist()] if q == 0.5 else []
    return Measure(name, label, float(there.quantile(q)), *(None if np.isnan(end) else end for end in ends),
                   len(there), unit, images=images, **more)


def difference(first, second, generator):
    """`(value, low, high, n)` of second minus first on the n images that both have; None of no images.

    The interval of a median resamples images, the same ones for both models.
    """
    if first.draws and len(first.draws) == len(second.draws):
        moved, value, n = np.subtract(second.draws, first.draws), second.value - first.value, first.n
        drawn = moved - np.nanmean(moved) + value
    else:
        if len(first.images) != len(second.images):
            return None
        pairs = np.array([(a, b) for a, b in zip(first.images, second.images) if None not in (a, b)])
        if len(pairs) < 2:
            return None
        n = len(pairs)
        if first.unit == "%":
            return *_of_shares(*pairs.T), n
        rows = (torch.randint(n, (n,), generator=generator).numpy() for _ in range(DRAWS))
        value, *drawn = (np.subtract(*np.median(some, axis=0)[::-1])
                         for some in (pairs, *(pairs[r] for r in rows)))
    low, high = np.nanquantile(drawn, (0.025, 0.975))
    return float(value), float(low), float(high), n


def _of_shares(first, second):
    """Second minus first share of the same images (0 or 1), and the ends of its 95% interval.

    Newcombe 1998, method 10: from the intervals of both (Wilson) and their correlation. Resampling would take
    four images that differ, all in one direction, for a difference beyond chance.
    """
    from scipy.stats import binomtest
    n, shares = len(first), (first.mean(), second.mean())
    (low1, high1), (low2, high2) = (binomtest(int(hits.sum()), n).proportion_ci(method="wilson")
                                    for hits in (first, second))
    both, ones, twos = (first * second).sum(), first.sum(), second.sum()
    excess = n * both - ones * twos     # both times neither minus the two ways to differ
    excess = max(excess - n / 2, 0) if excess > 0 else excess
    spread = (ones * (n - ones) * twos * (n - twos)) ** 0.5
    correlation = excess / spread if spread else 0.0

    def reach(a, b):
        return (a**2 - 2 * correlation * a * b + b**2) ** 0.5

    value = shares[1] - shares[0]
    return (float(value), float(value - reach(shares[1] - low2, high1 - shares[0])),
            float(value + reach(shares[0] - low1, high2 - shares[1])))


# ---- the instruments: a function of a task gives measures, and warnings ----------------------------------
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


# ---- the card --------------------------------------------------------------------------------------------
@dataclass
class Card:
    """`sections` is {model: [Section, ...]}, of one or two models; `settings` what was asked."""
    sections: dict
    settings: dict

    @cached_property
    def warnings(self):
        """`{(model, name): sentence}` of all sections, and of what they say together."""
        warned = {}
        for model, sections in self.sections.items():
            for name in dict.fromkeys(n for s in sections for n in s.warnings):
                warned[model, name] = " ".join(dict.fromkeys(s.warnings[name] for s in sections
                                                             if name in s.warnings))
            measures = [m for s in sections for m in s.measures if m.n]
            wide = [m.label for m in measures if m.unit == "%" and m.high - m.low > WIDE]
            few = [m.label for m in measures if m.unit != "%" and m.n < FEW]
            said = [f"shares with an interval wider than {100 * WIDE:.0f} points: {len(wide)}, "
                    f"for example “{wide[0]}”"] if wide else []
            said += [f"{len(few)} of the quantiles rest on fewer than {FEW} images, for example "
                     f"“{few[0]}”"] if few else []
            if said:
                warned[model, "few-images"] = f"{'; '.join(said)}; take more images."
        if against := [f"“{label}”" for _, label, better in self.preferences
                       if self.under_pgd and better != self.under_pgd]:
            other = next(model for model in self.sections if model != self.under_pgd)
            warned["both", "rank-disagrees"] = (
                f"PGD finds {self.under_pgd} more robust; {other} is better in {'; '.join(against)}.")
        return warned

    @property
    def under_pgd(self):
        """Which of two models is more robust under PGD; None where they do not differ beyond chance."""
        return next((model for name, _, model in self.preferences if name == "pgd_accuracy"), None)

    @property
    def preferences(self):
        """`[(name, label, the better model)]` where two models differ beyond chance."""
        preferred, models = [], [*self.sections]
        for name, (value, low, high, _) in self.differences.items():
            measure = self.measure(models[0], name)
            if measure.better and not low <= 0 <= high:
                better = models[(value > 0) == (measure.better == "higher")]
                preferred.append((name, measure.label, better))
        return preferred

    @cached_property
    def differences(self):
        """`{name: (second minus first, low, high, n)}` of what two models both have; of one, nothing."""
        if len(self.sections) == 1:
            return {}
        first, second = ({m.name: m for s in sections for m in s.measures}
                         for sections in self.sections.values())
        rows = {name: difference(a, second[name], runtime.generator(0, "card", name))
                for name, a in first.items()
                if name in second and None not in (a.value, second[name].value)}
        return {name: row for name, row in rows.items() if row}

    def measure(self, model, name):
        """The `Measure` of this name of a model; raises UserError with the names that there are."""
        there = {m.name: m for s in self.sections[model] for m in s.measures}
        if name not in there:
            errors = [f"{s.title}: {s.error}" for s in self.sections[model] if s.error]
            raise UserError(f"no measure {name!r} of {model}; there are: {', '.join([*there, *errors])}")
        return there[name]

    def unmet(self, asked):
        """Those of the `conditions` that a model does not meet, in words."""
        missed = []
        for name, sign, limit in asked:
            for model in self.sections:
                value = self.measure(model, name).value
                if value is None or not SIGNS[sign](value, limit):
                    missed.append(f"{model}: {name} = {value}, not {sign} {limit:g}")
        return missed

    def json(self):
        """Every number, as plain values."""
        return {"settings": self.settings, "differences": self.differences,
                "sections": {m: [asdict(s) for s in sections] for m, sections in self.sections.items()},
                "warnings": {f"{m}: {name}": text for (m, name), text in self.warnings.items()}}

    def save(self, path):
        """Write one self-contained HTML file, and the numbers beside it as JSON."""
        path = Path(path)
        if path.suffix != ".html":
            raise UserError(f"{path}: the card is written as HTML; take a name that ends in .html")
        for file, text in ((path, self.html()), (path.with_suffix(".json"), json.dumps(self.json()))):
            runtime.write_atomically(file, lambda part, text=text: part.write_text(text, encoding="utf-8"))

    def html(self):
        """The card as one HTML page without anything from elsewhere."""
        return card_html.page(self)

    def _repr_html_(self):
        return card_html.body(self)

    def __repr__(self):
        rows = ((model, m) for model, sections in self.sections.items() for s in sections for m in s.measures)
        lines = [f"{model}: {m.name} {m.value:.3g} ({m.label})" for model, m in rows if m.value is not None]
        lines += [f"{model}: not measured, {s.title}: {s.error}"
                  for model, sections in self.sections.items() for s in sections if s.error]
        lines += [f"warning {name}, {model}: {text}" for (model, name), text in self.warnings.items()]
        return "\n".join(lines)


def card(model, x, y, *, images=100, retrained=(), seed=0, file=None, say=None):
    """The `Card` of a model, or of two as {name: model}.

    x, y       images [N, C, H, W], float32 in [0, 1] or uint8; their classes, whole numbers [N]
    images     how many of them, drawn at random, the attacks take
    retrained  models trained in the same way from other seeds, for the last section; {name: [model]} of two
    seed       of everything random
    file       JSON file that keeps what is finished: a card that was stopped goes on there
    say        function that gets a line for each finished instrument, such as `print`

    Raises UserError for images, labels or models that are not so.
    """
    models = {str(k): m for k, m in model.items()} if isinstance(model, dict) else {"model": model}
    others = retrained if isinstance(retrained, dict) else dict.fromkeys(models, retrained)
    if not 1 <= len(models) <= 2 or not all(map(callable, models.values())):
        raise UserError("one model, or two as {name: model}, are needed, each a callable")
    if any(isinstance(m, torch.nn.Module) for m in others.values()):
        raise UserError("retrained is a module; a list of models is needed")
    others = {str(name): list(several) for name, several in others.items()}
    if type(images) is not int or images < 1:
        raise UserError(f"images={images!r}; a whole number from 1 is needed")
    inference.check_tensors(images=x)
    x, y = inference.pixels(x, torch.contiguous_format), torch.as_tensor(y)
    if y.is_floating_point() or y.shape != x.shape[:1] or not len(x):
        raise UserError(f"images {list(x.shape)}, labels {y.dtype} {list(y.shape)}; images [N, C, H, W] and "
                        "whole numbers [N] are needed, one for each")
    x, y = inference.clipped(x), y.long().to(x.device)
    settings = {"images": min(images, len(x)), "all": len(x), "shape": list(x.shape[1:]), "seed": seed,
                "retrained": max(map(len, others.values()))}
    kept, sections = _kept(file), {name: [] for name in models}
    code = Path(__file__).read_text(encoding="utf-8")   # other settings of an instrument are another card
    key = content.of_json([content.fingerprint({"x": x, "y": y}), settings, code])[:16]
    with runtime.progress(len(models) * len(SECTIONS), "card") as bar:
        for name, subject in models.items():
            task = Task(subject, x, y, images, others.get(name, []), seed)
            own = " ".join([name, key, *(_answers(m, task) for m in (subject, *task.retrained))])
            for title, function, meaning in SECTIONS:
                bar.set_description(f"{name}: {title}")
                if function is not retrainings or task.retrained:
                    raw = kept.get(f"{own} {title}") or asdict(_section(title, function, meaning, task))
                    measures = [Measure(**m) for m in raw["measures"]]
                    sections[name].append(Section(**raw | {"measures": measures}))
                    if file and not raw["error"]:
                        kept[f"{own} {title}"] = raw
                        runtime.write_atomically(Path(file), lambda part: part.write_text(json.dumps(kept)))
                    if say:
                        say(f"{name}: {title}, {raw['seconds']} s{raw['error'] and ', ' + raw['error']}")
                bar.update()
            if not any(s.measures for s in sections[name]):
                raise UserError(f"{name} gives no number for these images: {sections[name][0].error}")
    return Card(sections, settings)


def _section(title, function, meaning, task):
    """What an instrument says; what it cannot do stands in its section."""
    start, section = time.perf_counter(), Section(title, meaning)
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            section.measures, section.warnings = function(task)
        lost = [str(w.message) for w in heard if issubclass(w.category, inference.NoUsableGradient)]
        section.warnings |= {"no-gradient": lost[0]} if lost else {}
    except inference.LabelOutOfRange:
        raise
    except UserError as error:
        section.error = str(error)
        if isinstance(error, inference.ModelError):
            section.warnings = {re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__).lower(): str(error)}
    except Exception as error:      # of the model's own code: the other sections go on
        section.error = _line(error)
    section.seconds = round(time.perf_counter() - start, 1)
    return section


def _line(error):
    """An exception of somebody else's code in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _answers(model, task):
    """What tells a model from another: its logits of a few images; "" where it gives none."""
    try:
        scores = inference.logits(model, task.x[:8]).flatten().tolist()
        return content.of_json([f"{score:.3g}" for score in scores])[:12]
    except Exception:
        return ""


def _kept(file):
    """What an earlier call has kept in a file."""
    if file is None or not Path(file).exists():
        return {}
    try:
        return dict(json.loads(Path(file).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{file}: no card to go on with ({error}); name another file") from None


# ---- command ---------------------------------------------------------------------------------------------
def factory(name, weights=None):
    """The model that `package.module:function` makes, called without arguments; with a safetensors file."""
    module, _, function = name.partition(":")
    try:
        model = getattr(importlib.import_module(module), function)()
    except Exception as error:      # of the reader's own code, too
        raise UserError(f"model {name!r}: {_line(error)}; write package.module:function, importable from "
                        "here and called without arguments") from None
    if weights:
        from safetensors import SafetensorError
        from safetensors.torch import load_file
        try:
            model.load_state_dict(load_file(weights))
        except (SafetensorError, OSError, RuntimeError, AttributeError) as error:
            raise UserError(f"weights {weights}: {_line(error)}; a safetensors file of this model's "
                            "state_dict is needed") from None
    return model


def images_of(path):
    """`(x, y)` of an .npz, as `archives.read_own` reads it."""
    arrays = archives.read_own(path)
    return torch.from_numpy(arrays["x_test"]), torch.from_numpy(arrays["y_test"])


def conditions(text):
    """`[(name, sign, number)]` of "pgd_accuracy>=0.3, accuracy>0.9"; UserError for another form."""
    asked = []
    for condition in filter(None, map(str.strip, text.split(","))):
        form = re.fullmatch(r"(\w+)\s*(>=|<=|>|<)\s*(-?\d*\.?\d+(?:[eE][+-]?\d+)?)", condition)
        if not form:
            raise UserError(f"condition {condition!r}: write name>=number; allowed: {', '.join(SIGNS)}")
        asked.append((form[1], form[2], float(form[3])))
    return asked


def main(words=None):
    """`python -m shared.card`; the exit status is 1 where a condition of --check is not met."""
    parser = argparse.ArgumentParser(prog="python -m shared.card", description=__doc__.partition("\n")[0])
    parser.add_argument("model", nargs="+", help="package.module:function that makes it; two are compared")
    parser.add_argument("--weights", nargs="+", default=[], help="safetensors file, one for each model")
    parser.add_argument("--retrained", nargs="+", default=[],
                        help="safetensors files of the first model, trained from other seeds")
    parser.add_argument("--data", required=True, help=".npz with arrays x and y")
    parser.add_argument("--out", default="card.html")
    parser.add_argument("--images", type=int, default=100, help="how many images the attacks take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--check", default="", help='such as "pgd_accuracy>=0.3"')
    given = parser.parse_args(words)
    asked = conditions(given.check)
    if len(given.weights) > len(given.model):
        raise UserError(f"{len(given.weights)} files of weights for {len(given.model)} models; one for each")
    sys.path.insert(0, "")      # the reader's module lies here
    models = {}
    for name, weights in zip_longest(given.model, given.weights):
        short = Path(weights).stem if weights else name
        models[f"{short} {len(models) + 1}" if short in models else short] = factory(name, weights)
    retrained = {next(iter(models)): [factory(given.model[0], weights) for weights in given.retrained]}
    unfinished = Path(given.out).with_suffix(".part.json")
    report = card(models, *images_of(given.data), images=given.images, seed=given.seed, retrained=retrained,
                  file=unfinished, say=tqdm.write)
    report.save(given.out)
    unfinished.unlink(missing_ok=True)
    print(f"{report}\nwritten: {given.out}")
    unmet = report.unmet(asked)
    for text in unmet:
        print(f"check failed, {text}")
    return 1 if unmet else 0


if __name__ == "__main__":
    runtime.prepare()
    sys.exit(main())
