"""The report card of one model, or of two on the same images."""
import json
import math
import numbers
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from .. import inference, runtime
from ..data import content
from ..inference import Model
from ..runtime import UserError
from ..similarity import CONVENTIONS
from . import page
from .instruments import NORMS, SECTIONS, Section, Task, one_line, retrainings, section, shown, usual
from .measures import (
    CHANCE,
    FEW,
    SYMBOLS,
    Difference,
    Measure,
    difference,
    holm,
    magnitude,
    on_same_images,
    share,
)
from .pictures import chosen
from .provenance import provenance

ENOUGH = 67     # images from which the interval of a share is at most 25 points wide
LOW = 0.5       # accuracy without perturbation below which the card warns
ON_ALL = "Accuracy", "How classes lie"      # take all images, whatever the attacks take
MOST = 0.5      # share of images that noise of a gradient step's norm flips, from which gradients mislead
CODE = "instruments.py", "measures.py", "pictures.py"      # other settings of an instrument are another card
SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
WORST = "worst_accuracy"
GRADIENTS = WORST, f"{WORST}_l2", "pgd_accuracy", "cw_accuracy", "cw_distance"     # rest on gradients
ROBUST = *GRADIENTS, "black_box_accuracy"       # measures of robustness under attack
NOISE = {WORST: "noise_accuracy", "pgd_accuracy": "noise_accuracy", "black_box_accuracy": "noise_accuracy",
         f"{WORST}_l2": "noise_accuracy_l2", "cw_accuracy": "noise_accuracy_l2"}    # of the attacks' sizes


# ---- what sections show together -------------------------------------------------------------------------
def worst_case(sections: list[Section], settings: dict[str, Any]) -> Section:
    """The share of images that stay correct under every attack of one norm and size, image by image."""
    result = Section("Worst case over these attacks", (
        "An image counts where each attack that the row names leaves its label correct."))
    there = {m.name: m for s in sections for m in s.measures}
    fixed, nearest = (["pgd_accuracy", "black_box_accuracy", "noise_accuracy"],
                      ["cw_accuracy", "noise_accuracy_l2"])
    groups = {WORST: fixed, f"{WORST}_l2": nearest} if settings["norm"] != "L2" else {WORST: fixed + nearest}
    for name, attacks in groups.items():
        if measures := [there[attack] for attack in attacks if attack in there]:
            size = shown(NORMS["L2"](settings["l2"]) if attacks is nearest
                         else NORMS[settings["norm"]](settings["eps"]))
            labels = (m.label.removeprefix("correct under ").removeprefix("each of ") for m in measures)
            *words, last = dict.fromkeys(label.removesuffix(f" ({size})").replace(f"({size}, ", "(").replace(
                " and ", ", ") for label in labels)
            words = f"each of {', '.join(words)} and {last}" if words else last
            hits = torch.tensor([m.images for m in measures]).bool().all(0)
            result.measures.append(share(name, f"correct under {words} ({size})", hits,
                                         better="higher"))
    return result


def misleading(measures: dict[str, Measure]) -> dict[str, str]:
    """Signs, over several sections, that gradients mislead the attacks: `{name: sentence}`.

    Of those that Athalye, Carlini and Wagner (2018, Section 3.1) list: attacks that use gradients find less
    than a search without them.
    """
    warned: dict[str, list[str]] = {}
    values = {name: measure.value for name, measure in measures.items() if measure.value is not None}
    for name, other, attack in (("attack-weaker-than-noise", "noise_accuracy", "pgd_accuracy"),
                                ("attack-weaker-than-noise", "noise_accuracy_l2", "cw_accuracy"),
                                ("attack-weaker-than-black-box", "black_box_accuracy", "pgd_accuracy")):
        if {other, attack} <= {*values} and values[other] < values[attack]:
            warned.setdefault(name, []).append(
                f"{values[other]:.1%} of the images are {measures[other].label}, but "
                f"{values[attack]:.1%} are {measures[attack].label}.")
    noise = measures.get("noise_1")
    if noise and noise.low is not None and noise.low > MOST:
        warned["noise-as-good-as-gradient"] = [
            f"Noise as long as a step along the gradient flips {noise.value:.1%} of the labels that the step "
            "flips: the gradient is hardly better than a random direction."]
    return {name: f"{' '.join(texts)} The gradients mislead the attacks, and accuracy under them is no "
            "evidence of robustness. An attack made for this model is needed."
            for name, texts in warned.items()}


# ---- the card --------------------------------------------------------------------------------------------
@dataclass
class Card:
    """`sections` is {model: [Section, ...]}, of one or two models; `settings` and `provenance` say how.

    images      {"labels": of all images, "attacked": the places of those that the attacks took}
    about       what its author says of the models, {field: text}
    conditions  what the numbers are to meet, `[(name, sign, number)]`
    """
    sections: dict[str, list[Section]]
    settings: dict[str, Any]
    provenance: dict[str, Any] = field(default_factory=dict)
    images: dict[str, list[int]] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    conditions: list[tuple[str, str, float]] = field(default_factory=list)

    @classmethod
    def of(cls, values: dict[str, Any]) -> "Card":
        """The card of what its `json` gave, of which sections and settings are needed."""
        sections = {model: [_section(raw) for raw in raws] for model, raws in values["sections"].items()}
        checks = [(check["name"], check["sign"], check["limit"])
                  for check in values.get("checks", []) if check["model"] == next(iter(sections))]
        return cls(sections, values["settings"], values.get("provenance", {}), values.get("images", {}),
                   values.get("about", {}), checks)

    def measures(self, model: str) -> dict[str, Measure]:
        """`{name: Measure}` of a model."""
        return {m.name: m for s in self.sections[model] for m in s.measures}

    @cached_property
    def warnings(self) -> dict[tuple[str, str], str]:
        """`{(model, name): sentence}` of all sections, and of what they show together."""
        warned = {}
        for model, sections in self.sections.items():
            for name in dict.fromkeys(n for s in sections for n in s.warnings):
                warned[model, name] = " ".join(dict.fromkeys(s.warnings[name] for s in sections
                                                             if name in s.warnings))
            warned |= {(model, name): text for name, text in misleading(self.measures(model)).items()}
            steps = next((c["points"] for c in self.curves(model) if c["attack"] == "PGD"), None)
            if steps and (model, "no-example") in warned:
                norm, (right, left) = self.settings["norm"], (round(p["value"] * p["n"])
                                                              for p in (steps[0], steps[-1]))
                size, text = magnitude(norm, steps[-1]["size"]), warned[model, "no-example"].rstrip(".")
                warned[model, "no-example"] = (
                    f"{text}. PGD with {SYMBOLS[norm]} ≤ {size} flips {right - left:,} of {right:,} labels: "
                    "these images have adversarial ones, whatever the search found.")
            accuracy = self.measures(model).get("accuracy")
            low = [f"{m.value:.1%} of {m.n:,} images" for m in [accuracy] if m and (m.value or 0) < LOW]
            low += [f"none of {m.n:,} images of class {k}" for k, m, _ in self.classes.get(model, [])
                    if m.n >= FEW and not m.value]
            if low and (model, "no-better-than-chance") not in warned:
                warned[model, "low-accuracy"] = (
                    f"Without perturbation {' and '.join(low)} are classified correctly: attacks tell little "
                    "of images that are wrong without them. Check the order of the classes.")
        if text := self._few():
            warned["both" if len(self.sections) == 2 else next(iter(self.sections)), "few-images"] = text
        if against := [f"“{label}”" for name, label, better in self.preferences
                       if self.more_robust and better != self.more_robust and name not in ROBUST]:
            other = next(model for model in self.sections if model != self.more_robust)
            warned["both", "rank-disagrees"] = (
                f"In the worst case under attack {self.more_robust} is more robust; {other} is better in "
                f"{'; '.join(against)}. The worst case decides.")
        return warned

    def _few(self) -> str:
        """How many images are needed where few attacked ones are correct; "" where they are enough."""
        right = {model: counts[0] for model in self.sections if (counts := self._correct(model))}
        if min(right.values(), default=ENOUGH) >= ENOUGH:
            return ""
        attacked, there = self.settings["images"], self.settings["all"]
        accuracy = [self.measures(model).get("accuracy") for model in right]
        share = min((m.value for m in accuracy if m and m.value), default=1.0)
        images = 100 * math.ceil(ENOUGH / share / 100)
        counts = ", ".join(f"{n} of {attacked} ({model})" for model, n in right.items())
        text = (f"Attacked images that are correct without perturbation: {counts}; {ENOUGH} would give "
                "intervals of at most 25 points. ")
        if there <= attacked:
            return f"{text}The data has only {there:,} images; give about {images:,}."
        images = min(images, there)
        seconds = sum(s.seconds * (1 if s.title in ON_ALL else images / attacked)
                      for several in self.sections.values() for s in several)
        return (f"{text}Take images={images} (IMAGES={images} of make card), of which about "
                f"{images * share:.0f} are correct, in about {math.ceil(seconds / 60)} min.")

    def _correct(self, model: str) -> list[int]:
        """How many attacked images are correct: [without perturbation, under noise alone], or []."""
        noise = next((c["points"] for c in self.curves(model) if c["attack"] == "noise"
                      and c["norm"] == self.settings["norm"]), [])
        return [round(p["value"] * p["n"]) for p in noise if p["size"] in (0, self.settings["eps"])]

    @property
    def headlines(self) -> list[str]:
        """What may be quoted of each model: its accuracy, the worst case over the attacks, beside noise."""
        texts, data = [], f" ({self.about['data']})" if "data" in self.about else ""
        for model, there in ((model, self.measures(model)) for model in self.sections):
            worst, accuracy = there.get(WORST), there.get("accuracy")
            if not worst or worst.value is None:
                continue
            whole = f"{self.settings['all']:,} images{data}"
            counts = [f"{count:,} {words}" for count, words in zip(
                self._correct(model), ("without perturbation, ", "under noise alone and "))]
            text = [f"{accuracy.value:.1%} of {whole} are correct without perturbation."] if accuracy else []
            if worst.n == self.settings["all"]:
                taken = "all of them" if accuracy else f"all {whole}"
            else:
                taken = f"{worst.n:,} of {'them' if accuracy else whole}, drawn at random"
            under = worst.label.removeprefix("correct ").replace("under each of", "under the worst of")
            text += [f"The attacks take {taken}; the number of correct ones is {''.join(counts)}"
                     f"{round(worst.value * worst.n):,} {under}: {worst.value:.1%}, 95% interval "
                     f"{worst.low:.1%} to {worst.high:.1%}."]
            if model in self.misled:
                text += ["Its gradients mislead the attacks, so that this shows no robustness."]
            elif WORST in self.as_noise(model):
                text += ["No attack of this norm flips more labels than noise: the model withstands both, or "
                         "the attacks fail on it."]
            if any("Carlini-Wagner" in s.warnings.get("no-example", "") for s in self.sections[model]):
                text += ["For some images the Carlini-Wagner search found no adversarial image."]
            texts.append(f"{model}: {' '.join(text)}")
        return texts

    def curves(self, model: str) -> list[dict[str, Any]]:
        """The curves of a model: attack, norm, and for each size the share that stays correct."""
        return [curve for s in self.sections[model] for curve in s.pictures.get("curves", [])]

    @cached_property
    def classes(self) -> dict[str, list[tuple[int, Measure, Measure | None]]]:
        """`{model: [(class, accuracy, worst case)]}`, by the images of each class."""
        rows = {}
        for model, there in ((model, self.measures(model)) for model in self.sections):
            if self.images and "accuracy" in there:      # else that section stopped
                labels = torch.tensor(self.images["labels"])
                own = labels[self.images["attacked"]]

                def part(name, of, k, there=there):
                    hits = torch.tensor(there[name].images)[of == k] == 1
                    return share(name, there[name].label, hits)
                rows[model] = [(k, part("accuracy", labels, k), part(WORST, own, k) if WORST in there else
                                None) for k in labels.unique().tolist()]
        return rows

    @cached_property
    def misled(self) -> list[str]:
        """The models whose gradients mislead the attacks: these show no robustness."""
        return [model for model in self.sections if misleading(self.measures(model))]

    def as_noise(self, model: str) -> list[str]:
        """The measures of attacks that leave as many images correct as noise: no evidence of robustness."""
        values = {name: m.value or 0 for name, m in self.measures(model).items()}
        return [name for name, noise in NOISE.items() if 0 < values.get(noise, 0) <= values.get(name, 0)]

    @property
    def verdict(self) -> str:
        """Which of two models is more robust under attack."""
        best = self.more_robust
        text = f"{best} is more robust in the worst case, beyond chance" if best else (
            f"Worst case: {self.undecided(WORST) or 'no model counts as more robust'}")
        if best and WORST in self.as_noise(best):
            text += "; no attack flips more of its labels than noise does"
        better = [f"{model}, {label}" for name, label, model in self.preferences
                  if name in ROBUST and name != WORST]
        return f"{text}. Other measures under attack beyond chance: {'; '.join(better) or 'none'}."

    @property
    def more_robust(self) -> str | None:
        """Which of two models is more robust, worst case; None where they do not differ beyond chance."""
        return next((model for name, _, model in self.preferences if name == WORST), None)

    @property
    def preferences(self) -> list[tuple[str, str, str]]:
        """`[(name, label, the better model)]` where two models differ beyond chance.

        Under attacks by gradients no model is better whose gradients mislead them.
        """
        preferred, models = [], [*self.sections]
        for name, row in self.differences.items():
            if self.beyond_chance(name):
                measure = self.measure(models[0], name)
                second = (row.value > 0) == (measure.better == "higher")
                if not (name in GRADIENTS and models[second] in self.misled):
                    preferred.append((name, measure.label, models[second]))
        return preferred

    @cached_property
    def compared(self) -> dict[str, float]:
        """`{name: p}` of all measures in which one of two models can be better, and that have a test.

        The worst case is tested alone; the p of all others are corrected by Holm. Rows with the same values
        of all images are one test, that of the first.
        """
        chances, seen = {}, []
        for name, row in self.differences.items():
            both = [self.measure(model, name) for model in self.sections]
            values = [m.images or m.draws for m in both]
            if both[0].better and row.p is not None and values not in seen:
                chances[name] = row.p
                seen.append(values)
        alone = {name: chances.pop(name) for name in (WORST,) if name in chances}
        return alone | holm(chances)

    def beyond_chance(self, name: str) -> bool:
        """Whether two models differ in a measure of which one can be better, for other images, too."""
        row = self.differences.get(name)
        return (row is not None and row.low is not None and row.high is not None
                and self.compared.get(name, 1.0) <= CHANCE and not row.low <= 0 <= row.high)

    def undecided(self, name: str) -> str:
        """Why a difference is not beyond chance; "" where it is, or has no test."""
        row, better = self.differences.get(name), self.measure(next(iter(self.sections)), name).better
        alike = row is not None and row.p is None and row.least     # no image on which the two models differ
        if not row or not better or not (alike or name in self.compared) or self.beyond_chance(name):
            return ""
        tests = 1 if name == WORST else len({*self.compared} - {WORST})
        if row.least * max(tests, 1) > CHANCE:
            return "too few images to decide"
        return "within chance" + f" among {tests} tests" * (row.p is not None and row.p <= CHANCE)

    @cached_property
    def differences(self) -> dict[str, Difference]:
        """`{name: second minus first}` of what two models both have; of one, nothing."""
        if len(self.sections) == 1:
            return {}
        first, second = map(self.measures, self.sections)
        rows = {name: difference(a, second[name], runtime.generator(0, "card", name))
                for name, a in first.items()
                if name in second and None not in (a.value, second[name].value)}
        return {name: row for name, row in rows.items() if row}

    def measure(self, model: str, name: str) -> Measure:
        """The `Measure` of this name of a model; raises UserError with the names that there are."""
        there = self.measures(model)
        if name not in there:
            errors = [f"{s.title}: {s.error}" for s in self.sections[model] if s.error]
            raise UserError(f"no measure {name!r} of {model}; there are: {', '.join([*there, *errors])}")
        return there[name]

    def checks(self) -> list[dict[str, Any]]:
        """Whether each model meets each of the card's `conditions`."""
        return [{"model": model, "name": name, "sign": sign, "limit": limit, "value": value,
                 "met": value is not None and SIGNS[sign](value, limit)}
                for name, sign, limit in self.conditions for model in self.sections
                for value in [getattr(self.measures(model).get(name), "value", None)]]

    def failed(self) -> list[str]:
        """Those of the card's `conditions` that a model does not meet, in words."""
        return ["{model}: {name} = {value}, not {sign} {limit:g}".format(**check)
                for check in self.checks() if not check["met"]]

    def json(self) -> dict[str, Any]:
        """Every number, and every point of every picture, as plain values."""
        differences = {name: row._asdict() | {"p_holm": self.compared.get(name)}      # of the worst case, p
                       for name, row in self.differences.items()}
        classes = {model: [{"class": k, "accuracy": a.value, "n": a.n, WORST: w and w.value,
                            "attacked": w.n if w else 0} for k, a, w in rows]
                   for model, rows in self.classes.items()}
        return {"headlines": self.headlines, "about": self.about, "checks": self.checks(),
                "provenance": self.provenance, "settings": self.settings, "images": self.images,
                "differences": differences, "classes": classes, "known": page.networks(self),
                "sections": {m: [asdict(s) for s in sections] for m, sections in self.sections.items()},
                "warnings": {f"{m}: {name}": text for (m, name), text in self.warnings.items()}}

    def save(self, path: str | Path) -> None:
        """Write one self-contained HTML file, and its numbers as JSON."""
        path = html_path(path)
        for file, text in ((path, self.html()), (path.with_suffix(".json"), json.dumps(self.json()))):
            runtime.write_text(file, text)

    def html(self) -> str:
        """The card as one HTML page without anything from elsewhere."""
        return page.page(self)

    def _repr_html_(self):
        return page.body(self)

    def __repr__(self) -> str:
        rows = ((model, m) for model, sections in self.sections.items() for s in sections for m in s.measures)
        lines = [f"{model}: {m.name} {m.value:.3g} ({m.label})" for model, m in rows if m.value is not None]
        lines += [f"{model}: not measured, {s.title}: {s.error}"
                  for model, sections in self.sections.items() for s in sections if s.error]
        lines += [f"warning {name}, {model}: {text}" for (model, name), text in self.warnings.items()]
        return "\n".join([*lines, *self.headlines])


def _section(raw):
    """A `Section` of its plain values."""
    return Section(**{**raw, "measures": [Measure(**m) for m in raw["measures"]]})


def html_path(path: str | Path) -> Path:
    """The path of a card; raises UserError for one that does not end in .html.

    Also where the JSON beside it would replace a file of another kind, which nobody has named.
    """
    path, beside = Path(path), Path(path).with_suffix(".json")
    if path.suffix != ".html":
        raise UserError(f"{path}: the card is written as HTML; take a name that ends in .html")
    if beside.exists():
        try:
            ours = {"sections", "settings"} <= {*json.loads(beside.read_text(encoding="utf-8"))}
        except (OSError, ValueError, TypeError):
            ours = False
        if not ours:
            raise UserError(f"{beside}: the numbers of {path.name} go there, and a file of another kind is "
                            "there; move it, or take another name for the card")
    return path


def card(model: Model | Mapping[str, Model], x: torch.Tensor, y: torch.Tensor, *, images: int = 100,
         retrained: Sequence[Model] | Mapping[str, Sequence[Model]] = (), seed: int = 0,
         eps: float | None = None, norm: str = "Linf", restarts: int = 5, ssim_convention: str | None = None,
         about: Mapping[str, str] | None = None, file: str | Path | None = None,
         log: Callable[[str], object] | None = None) -> Card:
    """The `Card` of a model, or of two as {name: model}.

    x, y       images [N, C, H, W], float32 in [0, 1] or uint8; their classes, whole numbers [N]
    images     how many of them, drawn at random, the attacks take
    retrained  models trained in the same way from other seeds, for the last section; {name: [model]} of two
    seed       of everything random
    eps, norm  size of the perturbations, on the scale of pixels in [0, 1], in "Linf" or "L2"; None: a usual
               one, in Linf 0.1 for grey images (MNIST) and 8/255 for colour (CIFAR)
    restarts   of PGD: random starts; the black-box search has as many passes
    ssim_convention  as in `similarity.ssim`; None: "matlab", or "uniform" where images are too small for it
    about      what a reader should know of the models, such as {"training data": ..., "licence": ...}
    file       JSON file that keeps what is finished: a card that was stopped goes on there
    log        function that gets a line for each finished instrument, such as `print`

    Every model classifies some of the images before the first instrument starts. Raises UserError for images,
    labels, settings or models that are not so, such as one with a softmax inside.
    """
    models = {str(k): m for k, m in model.items()} if isinstance(model, Mapping) else {"model": model}
    if not 1 <= len(models) <= 2 or not all(map(callable, models.values())):
        raise UserError("one model, or two as {name: model}, are needed, each a callable")
    others = retrained if isinstance(retrained, Mapping) else dict.fromkeys(models, retrained)
    if any(isinstance(m, torch.nn.Module) for m in others.values()):
        raise UserError("retrained is a module; a list of models is needed")
    others = {str(name): list(several) for name, several in others.items()}
    if unknown := others.keys() - models.keys():
        raise UserError(f"retrained has {', '.join(sorted(unknown))}; the names are: {', '.join(models)}")
    inference.check_tensors(images=x)
    x, y = inference.pixels(x, torch.contiguous_format), torch.as_tensor(y)
    if y.is_floating_point() or y.shape != x.shape[:1] or not len(x):
        raise UserError(f"images {list(x.shape)}, labels {y.dtype} {list(y.shape)}; images [N, C, H, W] and "
                        "whole numbers [N] are needed, one for each")
    x, y = inference.clipped(x), y.long().to(x.device)
    settings = _settings(x, images=images, seed=seed, eps=eps, norm=norm, restarts=restarts,
                         ssim_convention=ssim_convention, retrained=max(map(len, others.values()), default=0))
    tasks = {name: Task(m, x, y, others.get(name, []), settings) for name, m in models.items()}
    for name, task in tasks.items():
        _check(name, task)
    first = next(iter(tasks.values()))
    correct = torch.stack([task.correct.cpu() for task in tasks.values()]).all(0)
    for task in tasks.values():     # the same images of both models
        task.shown = chosen(correct, first.y.cpu())
    origin = provenance(models, x, y, settings, first.attacks())
    kept, sections = _kept(file), {name: [] for name in models}
    code = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in CODE]
    key = content.of_json([origin["data"], settings, first.shown, code])[:16]
    with runtime.progress(len(models) * len(SECTIONS), "card") as bar:
        for name, task in tasks.items():
            own = " ".join([name, key, *(_answers(m, task) for m in (task.model, *task.retrained))])
            for instrument in SECTIONS:
                bar.set_description(f"{name}: {instrument.title}")
                if instrument.measures is not retrainings or task.retrained:
                    raw = kept.get(f"{own} {instrument.title}") or asdict(section(instrument, task))
                    sections[name].append(_section(raw))
                    if file and not raw["error"]:
                        kept[f"{own} {instrument.title}"] = raw
                        runtime.write_text(file, json.dumps(kept))
                    if log:
                        stopped = f", {raw['error']}" if raw["error"] else ""
                        log(f"{name}: {instrument.title}, {raw['seconds']} s{stopped}")
                bar.update()
    _pair(*sections.values())
    for several in sections.values():
        several.insert(0, worst_case(several, settings))
    return Card(sections, settings, origin, {"labels": y.tolist(), "attacked": first.rows},
                {str(name): str(text) for name, text in (about or {}).items()})


def _settings(x, *, images, seed, eps: float | None, norm, restarts, ssim_convention, retrained):
    """The settings as plain values; raises UserError where one cannot be."""
    images, seed = min(_whole("images", images, 1), len(x)), _whole("seed", seed)
    if norm not in NORMS:
        raise UserError(f"norm={norm!r}; allowed: {', '.join(NORMS)}")
    if eps is not None and not (isinstance(eps, numbers.Real) and 0 < eps < float("inf")):
        raise UserError(f"eps={eps!r}; a number above 0 is needed, on the scale of pixels in [0, 1]")
    if ssim_convention not in (None, *CONVENTIONS):
        raise UserError(f"ssim_convention={ssim_convention!r}; allowed: {', '.join(CONVENTIONS)}")
    pixels, grey = x[0].numel(), x.shape[1] == 1
    known = usual([*x.shape[1:]])
    sizes = {"Linf": known["eps"],      # sizes usual for MNIST and for CIFAR
             "L2": 1.5 * (pixels / 784) ** 0.5 if grey else 0.5 * (pixels / 3072) ** 0.5}
    eps = sizes[norm] if eps is None else float(eps)
    window = ssim_convention or ("matlab" if min(x.shape[2:]) >= 11 else "uniform")
    settings = {"images": images, "all": len(x), "shape": list(x.shape[1:]), "seed": seed, "norm": norm,
                "eps": eps, "l2": eps if norm == "L2" else sizes["L2"], "retrained": retrained,
                "restarts": _whole("restarts", restarts, 1), "ssim_convention": window}
    # Known networks are shown beside models that were measured in the same way.
    return settings | {"usual": all(settings[name] == value for name, value in known.items())}


def _whole(name, value, least=None):
    """A whole number as an int; raises UserError for another value."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or least and value < least:
        raise UserError(f"{name}={value!r}; a whole number{f' from {least}' if least else ''} is needed")
    return int(value)


def _check(name, task):
    """Raises UserError, with the name of the model, where it cannot be measured at all."""
    for model in (task.model, *task.retrained):
        try:
            scores = inference.checked_logits(model, task.x)
            inference.check_classes(task.all[1], scores.shape[1])
        except inference.ModelError as error:
            raise type(error)(f"{name}: {error}") from None
        except (UserError, Warning):
            raise
        except Exception as error:      # of the model's own code
            raise UserError(f"{name} gives no logits of these images: {one_line(error)}") from None


def _pair(*models):
    """Bring two models' measures onto the images that have a value of both: one set of images a row."""
    if len(models) < 2:
        return
    places = [{m.name: (s.measures, i) for s in sections for i, m in enumerate(s.measures)}
              for sections in models]
    for name in places[0].keys() & places[1].keys():
        (first, i), (second, k) = (place[name] for place in places)
        first[i], second[k] = on_same_images(first[i], second[k])


def _answers(model, task):
    """What tells a model from another: its logits of a few images."""
    scores = inference.logits(model, task.x[:8]).flatten().tolist()
    return content.of_json([f"{score:.3g}" for score in scores])[:12]


def _kept(file):
    """What an earlier call has kept in a file."""
    if file is None or not Path(file).exists():
        return {}
    try:
        kept = dict(json.loads(Path(file).read_text(encoding="utf-8")))
        if any("measures" not in section for section in kept.values()):
            raise ValueError("a file of another kind")
        return kept
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{file}: no card to go on with ({error}); name another file") from None
