"""A report card of any model: each instrument on the same images, with intervals, in Python, Jupyter or HTML.

    found = card(model, x, y)                       # in Jupyter it is a page; found.save("card.html")
    found = card({"plain": a, "robust": b}, x, y)   # two models, with the differences on the same images

    python -m shared.card package.module:factory --weights net.safetensors --data images.npz --out card.html

`model` is any callable as `shared.inference` says. Where an instrument fails, its section says why.
"""
import argparse
import importlib
import json
import re
import sys
import time
import warnings
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from shared import borderline, inference, regions, roby, runtime
from shared.attacks.directions import directions
from shared.attacks.gradient import PGD
from shared.attacks.line import lost_margin
from shared.attacks.noise import RandomSearch
from shared.attacks.optimised import CarliniWagner
from shared.attacks.threat import Linf
from shared.boundary.survey import purity, survey
from shared.data import archives, content
from shared.runtime import UserError
from shared.statistics import share_interval
from shared.susceptibility import susceptibility

WIDE = 0.25     # width of a share's interval from which the card says that images are few
DRAWS = 1000    # resamples of the images for the interval of a difference
KNOWN = Path(__file__).with_name("card_known.json")    # written by `python -m workflow.known`


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
        self.grey = x.shape[1] == 1
        self.linf, self.l2 = (0.1, 1.5) if self.grey else (8 / 255, 0.5)    # sizes of perturbations

    def generator(self, *labels):
        return runtime.generator(self.seed, "card", *labels)

    @cached_property
    def attacked(self):
        """The `Result` of PGD."""
        attack = PGD(Linf(self.linf), steps=20, step=self.linf / 5)
        return attack(self.model, self.x, self.y, generator=self.generator("pgd"))


# ---- statistics ------------------------------------------------------------------------------------------
def share(name, label, hits, among=None, **more):
    """The `Measure` of a share of images, from a bool for each; of those `among` alone, another bool."""
    hits = hits.cpu()
    among = torch.ones_like(hits) if among is None else among.cpu()
    count, n = int(hits[among].sum()), int(among.sum())
    low, high = share_interval(count, n) if n else (None, None)
    return Measure(name, label, count / n if n else None, low, high, n, "%",
                   images=[float(hit) if one else None for hit, one in zip(hits, among)], **more)


def quantile(name, label, values, unit, q=0.5, **more):
    """The `Measure` of a quantile, from a value for each image (nan: none); its interval is one of ranks."""
    from scipy.stats import binom
    values = values.detach().cpu().double()
    there = values[~values.isnan()].sort().values
    n = len(there)
    if not n:
        return Measure(name, label, None, None, None, 0, unit, **more)
    low, high = (int(binom.ppf(p, n, q)) for p in (0.025, 0.975))     # no law is assumed
    ends = (float(there[low - 1]), float(there[high])) if 0 < low and high < n else (None, None)
    images = [None if np.isnan(v) else v for v in values.tolist()] if q == 0.5 else []
    return Measure(name, label, float(there.quantile(q)), *ends, n, unit, images=images, **more)


def difference(first, second, generator):
    """`(value, low, high, n)` of second minus first on the n images that both have; None of no images.

    The interval resamples images, the same ones for both models.
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
        centre, n = np.mean if first.unit == "%" else np.median, len(pairs)
        rows = (torch.randint(n, (n,), generator=generator).numpy() for _ in range(DRAWS))
        value, *drawn = (np.subtract(*centre(some, axis=0)[::-1])
                         for some in (pairs, *(pairs[r] for r in rows)))
    low, high = np.nanquantile(drawn, (0.025, 0.975))
    return float(value), float(low), float(high), n


# ---- the instruments: a function of a task gives measures, and warnings ----------------------------------
def accuracy(task):
    x, y = task.all
    scores = inference.checked_logits(task.model, x, y)
    absent = scores.shape[1] - len(y.unique())
    warned = {"missing-classes": f"{absent} of the model's {scores.shape[1]} classes have no image here; the "
                                 "card says nothing about them."} if absent else {}
    return [share("accuracy", "classified correctly", scores.argmax(1) == y, better="higher")], warned


def fixed_size(task):
    noisy = RandomSearch(Linf(task.linf), draws=100)(
        task.model, task.x, task.y, generator=task.generator("noise"))
    correct = {name: r.was_correct & ~r.success for name, r in (("pgd", task.attacked), ("noise", noisy))}
    size = f"{task.linf:g}" if task.grey else f"{255 * task.linf:.0f}/255"
    warned = {}
    if correct["noise"].sum() < correct["pgd"].sum():
        warned["attack-weaker-than-noise"] = (
            "Random noise changes more labels than PGD at the same size: the gradients mislead the attack, "
            "and accuracy under PGD is no evidence of robustness.")
    return [share("pgd_accuracy", f"correct under PGD (L∞ ≤ {size})", correct["pgd"], better="higher"),
            share("noise_accuracy", f"correct under each of 100 draws of noise (L∞ ≤ {size})",
                  correct["noise"], better="higher")], warned


def nearest(task):
    attack = CarliniWagner(rate=0.2 if task.grey else 0.05, c=1.0, searches=3, iterations=100)
    found = attack(task.model, task.x, task.y, generator=task.generator("nearest"))
    norm = torch.where(found.was_correct & found.success, found.distance, torch.nan)
    return [share("cw_accuracy", f"correct under Carlini-Wagner (L2 ≤ {task.l2:g})",
                  found.was_correct & ~(found.distance <= task.l2), better="higher"),
            quantile("cw_distance", "norm of its perturbations, median", norm, "L2", better="higher"),
            quantile("cw_distance_10", "the same, 10% quantile", norm, "L2", 0.1),
            quantile("cw_distance_90", "the same, 90% quantile", norm, "L2", 0.9)], {}


def random_noise(task):
    found = susceptibility(task.model, task.x, task.y, generator=task.generator("susceptibility"), draws=100,
                           count=512, largest=10.0, loss=lost_margin)
    hit = found.attack.isfinite()
    measures = [share("susceptible", "correct images that a step along the gradient flips", hit,
                      found.correct, better="lower")]
    return measures + [share(f"noise_{delta}", f"of these, flipped by noise of {delta} × that step's norm",
                             row.isfinite(), hit, better="lower")
                       for delta, row in zip(found.deltas, found.random)], {}


def distances(task):
    count = min(25, task.x[0].numel())
    dirs = directions(task.x[0].numel(), count, negatives=True, generator=task.generator("directions"))
    found = survey(task.model, task.x, dirs, step=0.02, top=0.5)
    pure = torch.where(found.censored, torch.nan, purity(found, 1)[:, 0])
    label = f"nearest boundary in {len(dirs)} random directions, median (searched up to {found.top:g})"
    return [quantile("boundary_distance", label, found.nearest, "RMS", better="higher"),
            share("boundary_censored", f"images without a boundary up to {found.top:g}", found.censored,
                  better="higher"),
            quantile("purity", "directions to the most frequent other class, median", pure, "")], {}


def pairs(task):
    partners = borderline.backgrounds("digit", task.x, task.y, task.generator("partners"))
    found = borderline.search(task.model, task.x, partners, threshold=0.99, max_iterations=20)
    kept = ~found.excluded
    values = torch.where(kept, found.robustness, torch.nan)
    return [quantile("borderline_similarity", "similarity to the source where the label changes, median",
                     values, "SSIM", better="lower"),
            share("borderline_converged", "searches that end at SSIM 0.99", found.converged, kept)], {}


def clusters(task):
    x, y = task.all
    scores, classes = inference.logits(task.model, x), y.unique(return_inverse=True)[1]
    found = roby.roby(roby.layout(scores, classes))
    drawn = roby.bootstrap(scores, classes, draws=200, generator=task.generator("roby"))
    names = list(type(found).__dataclass_fields__)

    def of(name, label):
        value, values = getattr(found, name), drawn[:, names.index(name)].numpy()
        # Around the value: a resampled class is narrower than the class itself.
        low, high = value + np.nanquantile(values, (0.025, 0.975)) - np.nanmean(values)
        return Measure(name, label, value, float(low), float(high), len(x), better="lower",
                       draws=values.tolist())

    return [of("roby", "ROBY, its parts scaled within the model"),
            of("overlap", "overlap of the classes over the distance of their centres (below 0: apart)")], {}


def retrainings(task):
    found, models = task.attacked, [task.model, *task.retrained]
    hit = found.was_correct & found.success
    answers = {name: regions.answers(models, images)
               for name, images in (("adversarial", found.x_adv), ("clean", task.x))}
    return [share("transfer", f"PGD images that all {len(task.retrained)} re-trainings misclassify, too",
                  (answers["adversarial"][1:] != task.y).all(0), hit, better="lower"),
            *(share(f"alarm_{name}", f"{name} images on which two models disagree",
                    (answers[name] != answers[name][0]).any(0), among)
              for name, among in (("adversarial", hit), ("clean", found.was_correct)))], {}


# Title, function, what it means and what a large value says.
SECTIONS = (
    ("Accuracy", accuracy, "The share of images that get their label."),
    ("Perturbations of one size", fixed_size,
     "PGD follows the gradient to a perturbation that changes the label; noise draws perturbations of the "
     "same size. A model is only as robust as under the stronger of the two."),
    ("Nearest adversarial image", nearest,
     "The Carlini-Wagner attack minimises the norm of the perturbation. A larger norm is better."),
    ("Noise against an attack", random_noise,
     "A step along the gradient changes the label. Noise of the norm of this step rarely does; the shares "
     "show how fast that grows with the norm of the noise."),
    ("Boundary distances", distances,
     "How far an image moves in a random direction until its label changes. A larger distance is better."),
    ("Borderline pairs", pairs,
     "An image is mixed with one of another class until the label changes. A lower similarity is better: "
     "the image must change more."),
    ("How classes lie", clusters,
     "Widths and distances of the classes among the logits, without an attack. Smaller is meant to be "
     "better; whether it is, the attacks above show."),
    ("Re-trainings", retrainings,
     "Whether networks trained in the same way from other seeds make the same mistakes. Where they disagree "
     "on adversarial images and agree on clean ones, disagreement exposes the attack."))


# ---- the card --------------------------------------------------------------------------------------------
@dataclass
class Card:
    """`sections` is {model: [Section, ...]}, of one or two models; `settings` what was asked."""
    sections: dict
    settings: dict

    @cached_property
    def warnings(self):
        """`{(model, name): sentence}` of all sections, and of what they say together."""
        found = {}
        for model, sections in self.sections.items():
            for name in dict.fromkeys(n for s in sections for n in s.warnings):
                found[model, name] = " ".join(dict.fromkeys(s.warnings[name] for s in sections
                                                            if name in s.warnings))
            wide = [m.label for s in sections for m in s.measures
                    if m.unit == "%" and m.n and m.high - m.low > WIDE]
            if wide:
                found[model, "few-images"] = (
                    f"{len(wide)} of the shares have an interval wider than {100 * WIDE:.0f} points, for "
                    f"example “{wide[0]}”; take more images.")
        attack = self.differences.get("pgd_accuracy")
        if attack and not attack[1] <= 0 <= attack[2]:
            found |= {("both", f"rank-disagrees: {name}"): f"“{label}” prefers the other model than PGD does."
                      for name, label, second in self.preferences if second != (attack[0] > 0)}
        return found

    @property
    def preferences(self):
        """`[(name, label, whether the second model is better)]` where two models differ beyond chance."""
        found, first = [], next(iter(self.sections))
        for name, (value, low, high, _) in self.differences.items():
            measure = self.measure(first, name)
            if measure.better and not low <= 0 <= high:
                found.append((name, measure.label, (value > 0) == (measure.better == "higher")))
        return found

    @cached_property
    def differences(self):
        """`{name: (second minus first, low, high, n)}` of what two models both have; of one, nothing."""
        if len(self.sections) == 1:
            return {}
        first, second = ({m.name: m for s in sections for m in s.measures}
                         for sections in self.sections.values())
        found = {name: difference(a, second[name], runtime.generator(0, "card", name))
                 for name, a in first.items()
                 if name in second and None not in (a.value, second[name].value)}
        return {name: row for name, row in found.items() if row}

    def measure(self, model, name):
        """The `Measure` of this name of a model; raises UserError with the names that there are."""
        there = {m.name: m for s in self.sections[model] for m in s.measures}
        if name not in there:
            errors = [f"{s.title}: {s.error}" for s in self.sections[model] if s.error]
            raise UserError(f"no measure {name!r} of {model}; there are: {', '.join([*there, *errors])}")
        return there[name]

    def unmet(self, asked):
        """Those of the `conditions` that a model does not meet, in words."""
        found = []
        for name, sign, limit in asked:
            for model in self.sections:
                value = self.measure(model, name).value
                met = value is not None and {">=": value >= limit, "<=": value <= limit, ">": value > limit,
                                             "<": value < limit}[sign]
                found += [] if met else [f"{model}: {name} = {value}, not {sign} {limit:g}"]
        return found

    def json(self):
        """Every number, as plain values."""
        return {"settings": self.settings, "differences": self.differences,
                "sections": {m: [asdict(s) for s in sections] for m, sections in self.sections.items()},
                "warnings": {f"{m}: {name}": text for (m, name), text in self.warnings.items()}}

    def save(self, path):
        """Write one self-contained HTML file, and the numbers beside it as JSON."""
        path = Path(path)
        for file, text in ((path, self.html()), (path.with_suffix(".json"), json.dumps(self.json()))):
            runtime.write_atomically(file, lambda part, text=text: part.write_text(text, encoding="utf-8"))

    def html(self):
        """The card as one HTML page without anything from elsewhere."""
        from shared.card_html import page
        return page(self)

    def _repr_html_(self):
        from shared.card_html import body
        return body(self)

    def __repr__(self):
        return "\n".join(f"{model}: {m.label} {m.value:.3g}" for model, sections in self.sections.items()
                         for s in sections for m in s.measures if m.value is not None)


def card(model, x, y, *, images=100, retrained=(), seed=0, file=None):
    """The `Card` of a model, or of two as {name: model}.

    x, y       images [N, C, H, W], float32 in [0, 1] or uint8; their classes, whole numbers [N]
    images     how many of them, drawn at random, the attacks take
    retrained  models trained in the same way from other seeds, for the last section; {name: [model]} of two
    seed       of everything random
    file       JSON file that keeps what is finished: a card that was stopped goes on there

    Raises UserError for images, labels or models that are not so.
    """
    models = {str(k): m for k, m in model.items()} if isinstance(model, dict) else {"model": model}
    others = retrained if isinstance(retrained, dict) else dict.fromkeys(models, retrained)
    if not 1 <= len(models) <= 2 or not all(map(callable, models.values())):
        raise UserError(f"{len(models)} models; one or two are allowed, each a callable")
    if any(isinstance(each, torch.nn.Module) for each in others.values()):
        raise UserError("retrained is a module; a list of models is needed")
    others = {str(name): list(each) for name, each in others.items()}
    if type(images) is not int or images < 1:
        raise UserError(f"images={images!r}; a whole number from 1 is needed")
    inference.check_tensors(images=x)
    x, y = inference.pixels(x, torch.contiguous_format), torch.as_tensor(y)
    if y.is_floating_point() or y.shape != x.shape[:1] or not len(x):
        raise UserError(f"images {list(x.shape)}, labels {y.dtype} {list(y.shape)}; images [N, C, H, W] and "
                        "whole numbers [N] are needed, one for each")
    y = y.long().to(x.device)
    settings = {"images": min(images, len(x)), "all": len(x), "shape": list(x.shape[1:]), "seed": seed,
                "retrained": max(map(len, others.values()))}
    kept, sections = _kept(file), {name: [] for name in models}
    code = Path(__file__).read_text(encoding="utf-8")   # other settings of an instrument are another card
    key = content.of_json([content.fingerprint({"x": x, "y": y}), settings, code])[:16]
    with runtime.progress(len(models) * len(SECTIONS), "card") as bar:
        for name, each in models.items():
            task = Task(each, x, y, images, others.get(name, []), seed)
            own = " ".join([name, key, *(_answers(m, task) for m in (each, *task.retrained))])
            for title, function, _ in SECTIONS:
                bar.set_description(f"{name}: {title}")
                if function is not retrainings or task.retrained:
                    raw = kept.get(f"{own} {title}") or asdict(_section(title, function, task))
                    measures = [Measure(**m) for m in raw["measures"]]
                    sections[name].append(Section(**raw | {"measures": measures}))
                    if file and not raw["error"]:
                        kept[f"{own} {title}"] = raw
                        runtime.write_atomically(Path(file), lambda part: part.write_text(json.dumps(kept)))
                bar.update()
    return Card(sections, settings)


def _section(title, function, task):
    """What an instrument says; what it cannot do stands in its section."""
    start, section = time.perf_counter(), Section(title)
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            section.measures, section.warnings = function(task)
        lost = [str(w.message) for w in heard if issubclass(w.category, inference.NoUsableGradient)]
        section.warnings |= {"no-gradient": lost[0]} if lost else {}
    except UserError as error:
        section.error = str(error)
        if isinstance(error, inference.ModelError):
            section.warnings = {re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__).lower(): str(error)}
        elif "pixels lie" in str(error):
            section.warnings = {"pixels-outside": str(error)}
    except Exception as error:      # of the model's own code: the other sections go on
        section.error = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    section.seconds = round(time.perf_counter() - start, 1)
    return section


def _answers(model, task):
    """What tells a model from another: logits and gradients of a few images; "" where it gives none."""
    x, y = task.x[:8], task.y[:8]
    try:
        asked = inference.Classifier(model)
        _, slopes = inference.gradient(lambda z: asked(z).gather(1, y[:, None])[:, 0], x)
        values = torch.cat([inference.logits(model, x).flatten(), slopes.flatten(1).norm(dim=1)])
        return content.of_json([f"{v:.3g}" for v in values.tolist()])[:12]
    except Exception:
        return ""


def _kept(file):
    """What an earlier call has kept in a file."""
    if file is None or not Path(file).exists():
        return {}
    try:
        return dict(json.loads(Path(file).read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{file}: no card to go on with ({error}); name another file") from None


# ---- command ---------------------------------------------------------------------------------------------
def factory(name):
    """The model that `package.module:function` makes, called without arguments."""
    module, _, function = name.partition(":")
    try:
        return getattr(importlib.import_module(module), function)()
    except Exception as error:      # of the reader's own code, too
        told = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise UserError(f"model {name!r}: {told}; write package.module:function, importable from here and "
                        "called without arguments") from None


def weights(model, path):
    """Load a safetensors file into a module."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file
    try:
        model.load_state_dict(load_file(path))
    except (SafetensorError, OSError, RuntimeError, AttributeError) as error:
        told = " ".join(str(error).split())[:200]
        raise UserError(f"weights {path}: {told}; a safetensors file of this model's state_dict is "
                        "needed") from None


def images_of(path):
    """`(x, y)` of an .npz, as `archives.read_own` reads it."""
    arrays = archives.read_own(path)
    return torch.from_numpy(arrays["x_test"]), torch.from_numpy(arrays["y_test"])


def conditions(text):
    """`[(name, sign, number)]` of "pgd_accuracy>=0.3, accuracy>0.9"; UserError for another form."""
    found = []
    for condition in filter(None, map(str.strip, text.split(","))):
        form = re.fullmatch(r"(\w+)\s*(>=|<=|>|<)\s*(-?\d*\.?\d+(?:[eE][+-]?\d+)?)", condition)
        if not form:
            raise UserError(f"condition {condition!r}: write name>=number; allowed: >=, <=, >, <")
        found.append((form[1], form[2], float(form[3])))
    return found


def main(words=None):
    """`python -m shared.card`; the exit status is 1 where a condition of --check is not met."""
    parser = argparse.ArgumentParser(prog="python -m shared.card", description=__doc__.partition("\n")[0])
    parser.add_argument("model", nargs="+", help="package.module:function that makes it; two are compared")
    parser.add_argument("--weights", nargs="+", default=[], help="safetensors file, one for each model")
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
    for n, name in enumerate(given.model):
        model, short = factory(name), name.rpartition(":")[2]
        if n < len(given.weights):
            weights(model, given.weights[n])
            short = Path(given.weights[n]).stem
        models[f"{short} {n + 1}" if short in models else short] = model
    unfinished = Path(given.out).with_suffix(".part.json")
    made = card(models, *images_of(given.data), images=given.images, seed=given.seed, file=unfinished)
    made.save(given.out)
    unfinished.unlink(missing_ok=True)
    print("\n".join([repr(made), *(f"warning, {model}: {text}" for (model, _), text in made.warnings.items()),
                     f"written: {given.out}"]))
    unmet = made.unmet(asked)
    for text in unmet:
        print(f"check failed, {text}")
    return 1 if unmet else 0


if __name__ == "__main__":
    runtime.prepare()
    sys.exit(main())
