"""A report card of any model: each instrument on the same images, with intervals, in Python, Jupyter or HTML.

    found = card(model, x, y)                       # in Jupyter it is a page; found.save("card.html")
    found = card({"plain": a, "robust": b}, x, y)   # two models, with the differences on the same images

    python -m shared.card package.module:factory --weights net.safetensors --data images.npz --out card.html

`model` is any callable as `shared.inference` says. A section whose instrument fails says why, the others go
on.
"""
import argparse
import importlib
import json
import re
import sys
import time
import warnings
from dataclasses import asdict, dataclass, field
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
from shared.data import content
from shared.runtime import UserError
from shared.statistics import share_interval
from shared.susceptibility import susceptibility

WIDE = 0.2      # width of a share's interval from which the card says that images are few
DRAWS = 1000    # resamples of the images for the interval of a difference
KNOWN = Path(__file__).with_name("card_known.json")    # written by `python -m workflow.known`


@dataclass
class Measure:
    """One number of a model, with its 95% interval."""
    name: str                   # as CHECK and `card.json` call it
    label: str
    value: float | None         # None: no image allows it
    low: float | None
    high: float | None
    n: int                      # images that it rests on
    unit: str = ""              # "%" (of a share in [0, 1]), "L2", "RMS", "SSIM", or ""
    better: str = ""            # "higher", "lower", or "" where neither is
    images: list = field(default_factory=list)   # its value for each image, None where there is none


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
        self.model, self.retrained, self.seed = model, list(retrained), seed
        self.all, self.x, self.y = (x, y), x[:images], y[:images]
        self.grey = x.shape[1] == 1
        self.limit = 0.1 if self.grey else 8 / 255      # of a pixel's change, for PGD and noise

    def generator(self, *labels):
        return runtime.generator(self.seed, "card", *labels)


# ---- statistics ------------------------------------------------------------------------------------------
def share(name, label, hits, among=None, **more):
    """The `Measure` of a share of images, from a bool for each; of those `among` alone, another bool."""
    hits = hits.cpu()
    among = torch.ones_like(hits) if among is None else among.cpu()
    count, n = int(hits[among].sum()), int(among.sum())
    low, high = share_interval(count, n) if n else (None, None)
    return Measure(name, label, count / n if n else None, low, high, n, "%",
                   images=[float(hit) if one else None for hit, one in zip(hits, among)], **more)


def median(name, label, values, unit, **more):
    """The `Measure` of a median, from a value for each image (nan: none), with the interval of its ranks."""
    from scipy.stats import binom
    there = values[~values.isnan()].double().sort().values
    n = len(there)
    if not n:
        return Measure(name, label, None, None, None, 0, unit, **more)
    rank = int(binom.ppf(0.025, n, 0.5))      # order statistics, so that no law is assumed
    ends = float(there[max(rank - 1, 0)]), float(there[min(n - rank, n - 1)])
    middle = float(there[(n - 1) // 2] + there[n // 2]) / 2       # not nan where both are infinite
    return Measure(name, label, middle, *ends, n, unit,
                   images=[None if np.isnan(v) else v for v in values.double().tolist()], **more)


def difference(first, second, generator):
    """`(value, low, high)` of second minus first on the images that both have; None where there is none.

    The interval resamples images, the same ones for both models.
    """
    pairs = [(a, b) for a, b in zip(first.images, second.images) if a is not None and b is not None]
    if len(pairs) < 2 or len(first.images) != len(second.images):
        return None
    values, centre = np.array(pairs), np.mean if first.unit == "%" else np.median
    rows = torch.randint(len(values), (DRAWS, len(values)), generator=generator).numpy()
    drawn = centre(values[rows], axis=1)
    low, high = np.quantile(drawn[:, 1] - drawn[:, 0], (0.025, 0.975))
    return float(second.value - first.value), float(low), float(high)


# ---- the instruments: a function of a task gives measures, and warnings -----------------------------------
def accuracy(task):
    x, y = task.all
    scores = inference.checked_logits(task.model, x, y)
    warned = {}
    absent = scores.shape[1] - len(y.unique())
    if absent:
        warned["missing-classes"] = (f"{absent} of the model's {scores.shape[1]} classes have no image here; "
                                     "the card says nothing about them.")
    return [share("accuracy", "classified correctly", scores.argmax(1) == y, better="higher")], warned


def fixed_size(task):
    step = task.limit / 5
    attacked = PGD(Linf(task.limit), steps=20, step=step)(
        task.model, task.x, task.y, generator=task.generator("pgd"))
    noisy = RandomSearch(Linf(task.limit), draws=100)(
        task.model, task.x, task.y, generator=task.generator("noise"))
    withstood = {name: r.was_correct & ~r.success for name, r in (("pgd", attacked), ("noise", noisy))}
    size = f"{task.limit:g}" if task.grey else f"{255 * task.limit:.0f}/255"
    warned = {}
    if withstood["noise"].sum() < withstood["pgd"].sum():
        warned["attack-weaker-than-noise"] = (
            "Random noise changes more labels than PGD at the same size: the gradients mislead the "
            "attack, and accuracy under PGD is no evidence of robustness.")
    return [share("pgd_accuracy", f"correct under PGD (L∞ ≤ {size})", withstood["pgd"], better="higher"),
            share("noise_accuracy", f"correct under 100 draws of noise (L∞ ≤ {size})", withstood["noise"],
                  better="higher")], warned


def nearest(task):
    found = CarliniWagner(rate=0.01, c=1.0, searches=3, iterations=60)(
        task.model, task.x, task.y, generator=task.generator("nearest"))
    hit = found.was_correct & found.success
    distance = torch.where(hit, found.distance, torch.nan)
    lower, upper = (distance[hit].quantile(q).item() if hit.any() else None for q in (0.1, 0.9))
    return [median("cw_distance", "distance of the nearest adversarial image, median", distance, "L2",
                   better="higher"),
            *(Measure(f"cw_distance_{name}", f"the same, {label}", value, None, None, int(hit.sum()), "L2")
              for name, label, value in ((10, "nearest tenth", lower), (90, "farthest tenth", upper))),
            share("cw_success", "correct images where one is found", found.success, found.was_correct)], {}


def random_noise(task):
    found = susceptibility(task.model, task.x, task.y, generator=task.generator("susceptibility"), draws=100,
                           count=64, largest=10.0, loss=lost_margin)
    warned = {}
    if found.vanished.any():
        none, of = int(found.vanished.sum()), int(found.correct.sum())
        warned["no-gradient"] = (f"For {none} of {of} correct images the gradient is zero or not finite; no "
                                 "attack along it was tried on them.")
    hit = found.attack.isfinite()
    measures = [share("susceptible", "correct images with an attack along the gradient", hit, found.correct,
                      better="lower")]
    return measures + [share(f"noise_{delta}", f"of these, flipped by noise of {delta} × the attack's norm",
                             row.isfinite(), hit, better="lower")
                       for delta, row in zip(found.deltas, found.random)], warned


def distances(task):
    count = min(25, task.x[0].numel())
    dirs = directions(task.x[0].numel(), count, negatives=True, generator=task.generator("directions"))
    found = survey(task.model, task.x, dirs, step=0.02, top=0.5)
    near = torch.where(found.censored, torch.inf, found.nearest).cpu()
    measure = median("boundary_distance", f"nearest boundary in {len(dirs)} random directions, median", near,
                     "RMS", better="higher")
    for end in ("value", "low", "high"):     # beyond the last step
        if getattr(measure, end) == np.inf:
            setattr(measure, end, None)
    measure.images = [min(v, found.top) for v in measure.images]
    pure = torch.where(found.censored, torch.nan, purity(found, 1)[:, 0]).cpu()
    return [measure, share("boundary_censored", f"no boundary up to {found.top}", found.censored,
                           better="higher"),
            median("purity", "directions that lead to the most frequent class, median", pure, "")], {}


def pairs(task):
    partners = borderline.backgrounds("digit", task.x, task.y, task.generator("partners"))
    found = borderline.search(task.model, task.x, partners, threshold=0.99, max_iterations=20)
    kept = ~found.excluded
    values = torch.where(kept, found.robustness, torch.nan).cpu()
    return [median("borderline_similarity", "similarity to the source when the label changes, median", values,
                   "SSIM", better="lower"),
            share("borderline_converged", "searches that end at SSIM 0.99", found.converged, kept)], {}


def clusters(task):
    x, y = task.all
    scores = inference.logits(task.model, x)
    found = roby.roby(roby.layout(scores, y))
    drawn = roby.bootstrap(scores, y, draws=200, generator=task.generator("roby"))
    names = list(type(found).__dataclass_fields__)

    def of(name, key, label):
        value, of_draws = getattr(found, key), drawn[:, names.index(key)].numpy()
        # Around the value: a resampled class is narrower than the class itself.
        low, high = value + np.nanquantile(of_draws, (0.025, 0.975)) - np.nanmean(of_draws)
        return Measure(name, label, value, float(low), float(high), len(x), better="lower")

    return [of("roby", "roby", "ROBY (scaled inside the model)"),
            of("overlap", "overlap", "overlap of the classes over the distance of their centres")], {}


def retrainings(task):
    attacked = PGD(Linf(task.limit), steps=20, step=task.limit / 5)(
        task.model, task.x, task.y, generator=task.generator("pgd"))
    hit = attacked.was_correct & attacked.success
    models = [task.model, *task.retrained]
    answers = {name: regions.answers(models, images)
               for name, images in (("adversarial", attacked.x_adv), ("clean", task.x))}
    return [share("transfer", "adversarial images that all re-trainings misclassify",
                  (answers["adversarial"][1:] != task.y).all(0), hit, better="lower"),
            *(share(f"alarm_{name}", f"{name} images on which two models disagree",
                    (answers[name] != answers[name][0]).any(0), among)
              for name, among in (("adversarial", hit), ("clean", attacked.was_correct)))], {}


# Title, function, what it means and what a large value says, the page of the book.
SECTIONS = (
    ("Accuracy", accuracy, "The share of images that get their label.", "ren/ii_networks"),
    ("Perturbations of one size", fixed_size,
     "PGD follows the gradient to a perturbation that changes the label, noise draws perturbations of the "
     "same size. A model is only as robust as under the stronger of the two.", "chen/iv_c_benchmark"),
    ("Nearest adversarial image", nearest,
     "The Carlini-Wagner attack minimises the norm of the perturbation. A larger distance is better.",
     "he/3_optmargin"),
    ("Noise against an attack", random_noise,
     "Noise of the attack's own norm rarely changes a label; the share shows how fast it grows with the "
     "norm.",
     "sutton/7_2_1_cifar10"),
    ("Boundary distances", distances,
     "How far an image moves in a random direction until its label changes. A larger distance is better.",
     "he/4_boundary"),
    ("Borderline pairs", pairs,
     "An image is mixed with one of another class until the label changes. A lower similarity is better: "
     "the image must change more.", "ren/iii_borderline"),
    ("How classes lie", clusters,
     "Width and distance of the classes among the logits, without an attack. Smaller is meant to be "
     "better; compare it with the attacks above.", "chen/iii_roby"),
    ("Re-trainings", retrainings,
     "Whether networks trained in the same way from other seeds make the same mistakes.", "shu/2_4_alarm"))


# ---- the card --------------------------------------------------------------------------------------------
@dataclass
class Card:
    """`sections` is {model: [Section, ...]}; `warnings` {name: sentence}; `settings` what was asked."""
    sections: dict
    settings: dict

    @property
    def warnings(self):
        """`{(model, name): sentence}` of all sections, and of what they say together."""
        found = {(model, name): text for model, sections in self.sections.items()
                 for section in sections for name, text in section.warnings.items()}
        for model, sections in self.sections.items():
            wide = [m.label for s in sections for m in s.measures
                    if m.unit == "%" and m.n and m.high - m.low > WIDE]
            if wide:
                found[model, "few-images"] = (
                    f"The interval of {len(wide)} shares is wider than {WIDE:.0%}, for example of "
                    f"“{wide[0]}”; take more images.")
        return found | self._ranks()

    def _ranks(self):
        """Metrics that put two models in the other order than the attack does."""
        if len(self.sections) != 2:
            return {}
        attack = next((d for name, *d in self.differences() if name == "pgd_accuracy"), None)
        if attack is None or attack[1] <= 0 <= attack[2]:
            return {}
        found = {}
        for name, value, low, high in self.differences():
            measure = self.measure(next(iter(self.sections)), name)
            better, label = measure.better, measure.label
            alike = ((value > 0) == (attack[0] > 0)) == (better == "higher")
            if better and not low <= 0 <= high and not alike:
                found["both", f"rank-disagrees: {name}"] = f"“{label}” prefers the other model than PGD does."
        return found

    def measure(self, model, name):
        """The `Measure` of this name of a model; raises UserError with the names that there are."""
        there = {m.name: m for s in self.sections[model] for m in s.measures}
        if name not in there:
            raise UserError(f"no measure {name!r}; there are: {', '.join(there)}")
        return there[name]

    def differences(self):
        """`[(name, second minus first, low, high)]` of two models, of what both have image by image."""
        (_, first), (_, second) = self.sections.items()
        there = {m.name: m for s in second for m in s.measures}
        rows = []
        for a in (m for s in first for m in s.measures):
            b = there.get(a.name)
            if b and a.value is not None and b.value is not None and (
                    d := difference(a, b, runtime.generator(0, "card", a.name))):
                rows.append((a.name, *d))
        return rows

    def check(self, conditions):
        """Those of the conditions, such as "pgd_accuracy>=0.3, accuracy>0.9", that a model does not meet."""
        failed = []
        for condition in filter(None, map(str.strip, conditions.split(","))):
            form = re.fullmatch(r"(\w+)\s*(>=|<=|>|<)\s*([\d.eE+-]+)", condition)
            if not form:
                raise UserError(f"condition {condition!r}: write name>=number; allowed: >=, <=, >, <")
            for model in self.sections:
                value, limit = self.measure(model, form[1]).value, float(form[3])
                met = value is not None and {">=": value >= limit, "<=": value <= limit, ">": value > limit,
                                             "<": value < limit}[form[2]]
                failed += [] if met else [f"{model}: {form[1]} = {value}, not {form[2]} {form[3]}"]
        return failed

    def json(self):
        """Every number, as plain values."""
        return {"settings": self.settings,
                "sections": {m: [asdict(s) for s in sections] for m, sections in self.sections.items()},
                "warnings": {f"{m}: {name}": text for (m, name), text in self.warnings.items()}}

    def save(self, path):
        """Write one self-contained HTML file, and the numbers beside it as JSON."""
        path = Path(path)
        runtime.write_atomically(path, lambda part: part.write_text(self.html(), encoding="utf-8"))
        numbers = path.with_suffix(".json")
        text = json.dumps(self.json())
        runtime.write_atomically(numbers, lambda part: part.write_text(text, encoding="utf-8"))

    def html(self):
        """The card as one HTML page without anything from elsewhere."""
        from shared.card_html import page
        return page(self)

    def _repr_html_(self):
        from shared.card_html import body
        return body(self)

    def __repr__(self):
        lines = [f"{model}: {m.label} {m.value:.3g}" for model, sections in self.sections.items()
                 for s in sections for m in s.measures if m.value is not None]
        return "\n".join(lines)


def card(model, x, y, *, images=None, retrained=(), seed=0, file=None):
    """The `Card` of a model, or of two as {name: model}.

    x, y       float32 images [N, C, H, W] in [0, 1], or uint8; their classes, int64 [N]
    images     how many of them the attacks take; None: 100
    retrained  models trained in the same way from other seeds, for the last section
    seed       of everything random
    file       JSON file that keeps what is finished: a card that was stopped goes on there

    Raises UserError for images, labels or names that are not so.
    """
    models = model if isinstance(model, dict) else {"model": model}
    if not 1 <= len(models) <= 2:
        raise UserError(f"{len(models)} models; one or two are allowed")
    x = inference.pixels(x, torch.contiguous_format) if x.dtype == torch.uint8 else x
    y = torch.as_tensor(y)
    inference.check_tensors(images=x)
    if x.ndim != 4 or len(x) != len(y) or not len(x):
        raise UserError(f"images {list(x.shape)}, labels {list(y.shape)}; [N, C, H, W] and [N] are needed")
    images = images or 100
    settings = {"images": min(images, len(x)), "all": len(x), "shape": list(x.shape[1:]), "seed": seed,
                "retrained": len(list(retrained))}
    kept, sections = _kept(file), {name: [] for name in models}
    key = content.fingerprint({"x": x, "y": y}) + json.dumps(settings, sort_keys=True)
    with runtime.progress(len(models) * len(SECTIONS), "card") as bar:
        for name, each in models.items():
            task = Task(each, x, y, images, retrained, seed)
            own = f"{name} {key} {_answers(task)}"
            for title, function, *_ in SECTIONS:
                if function is retrainings and not task.retrained:
                    continue
                place = f"{own} {title}"
                if place not in kept:
                    kept[place] = asdict(_section(title, function, task))
                    if file:
                        runtime.write_atomically(Path(file), lambda part: part.write_text(json.dumps(kept)))
                raw = kept[place]
                sections[name].append(Section(**raw | {"measures": [Measure(**m) for m in raw["measures"]]}))
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
            section.warnings = {_kebab(type(error).__name__): str(error)}
        elif "pixels lie" in str(error):
            section.warnings = {"pixels-outside": str(error)}
    except Exception as error:      # of the model's own code: the other sections go on
        section.error = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    section.seconds = round(time.perf_counter() - start, 1)
    return section


def _kebab(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


def _answers(task):
    """What tells a model from another: its answers on a few images; "" where it gives none."""
    try:
        scores = inference.logits(task.model, task.x[:8])
        return content.of_json([[f"{v:.4g}" for v in row] for row in scores.tolist()])[:12]
    except Exception:
        return ""


def _kept(file):
    """What an earlier call has kept in a file."""
    if file is None or not Path(file).exists():
        return {}
    try:
        return dict(json.loads(Path(file).read_text()))
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: no card to go on with ({error}); name another file") from None


# ---- command ---------------------------------------------------------------------------------------------
def factory(name):
    """The model that `package.module:function` makes, called without arguments."""
    module, _, function = name.partition(":")
    try:
        made = getattr(importlib.import_module(module), function)()
    except (ImportError, AttributeError, ValueError) as error:
        raise UserError(f"model {name!r}: {error}; write package.module:function, importable from "
                        "here") from None
    return made


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
    """`(x, y)` of an .npz with the arrays x [N, C, H, W] or [N, H, W] or [N, H, W, C], and y [N]."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            x, y = (torch.from_numpy(arrays[k]) for k in ("x", "y"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"data {path}: {error}; an .npz with arrays x (images) and y (labels) is "
                        "needed") from None
    if x.ndim == 3:
        x = x[:, None]
    elif x.ndim == 4 and x.shape[3] in (1, 3) and x.shape[1] not in (1, 3):
        x = x.permute(0, 3, 1, 2).contiguous()
    return (x if x.dtype == torch.uint8 else x.float()), y.long()


def main(words=None):
    """`python -m shared.card`; the exit status is 1 where a condition of --check is not met."""
    parser = argparse.ArgumentParser(prog="python -m shared.card", description=__doc__.partition("\n")[0])
    parser.add_argument("model", nargs="+", help="package.module:function that makes it; two are compared")
    parser.add_argument("--weights", nargs="+", default=[], help="safetensors file, one for each model")
    parser.add_argument("--data", required=True, help=".npz with arrays x and y")
    parser.add_argument("--out", default="card.html")
    parser.add_argument("--images", type=int, help="how many images the attacks take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--check", default="", help='such as "pgd_accuracy>=0.3"')
    given = parser.parse_args(words)
    runtime.prepare()
    sys.path.insert(0, "")
    models = {}
    for n, name in enumerate(given.model):
        model = factory(name)
        if n < len(given.weights):
            weights(model, given.weights[n])
        short = Path(given.weights[n]).stem if n < len(given.weights) else name.rpartition(":")[2]
        models[f"{short} {n + 1}" if short in models else short] = model
    made = card(models, *images_of(given.data), images=given.images, seed=given.seed,
                file=Path(given.out).with_suffix(".part.json"))
    made.save(given.out)
    Path(given.out).with_suffix(".part.json").unlink(missing_ok=True)
    failed = made.check(given.check)
    print("\n".join([repr(made), *(f"warning, {model}: {text}" for (model, _), text in made.warnings.items()),
                     *(f"check failed, {text}" for text in failed), f"written: {given.out}"]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
