"""The report card of one model, or of two on the same images."""
import json
import numbers
import operator
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from .. import inference, runtime
from ..data import content
from ..runtime import UserError
from ..similarity import CONVENTIONS
from . import page
from .instruments import NORMS, SECTIONS, Section, Task, one_line, retrainings, section, shown
from .measures import CHANCE, Difference, Measure, difference, holm, on_same_images, share
from .provenance import provenance

WIDE = 0.25     # width of a share's interval from which the card says that images are few
FEW = 20        # and the number of images below which it says so of a quantile
MOST = 0.5      # share of images that noise of a gradient step's norm flips, from which gradients mislead
CODE = "instruments.py", "measures.py"      # other settings of an instrument are another card
SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
WORST = "worst_accuracy"
GRADIENTS = WORST, f"{WORST}_l2", "pgd_accuracy", "cw_accuracy", "cw_distance"     # rest on gradients
ATTACKS = {"pgd_accuracy": "PGD", "black_box_accuracy": "a black-box search", "noise_accuracy": "noise",
           "cw_accuracy": "Carlini-Wagner", "noise_accuracy_l2": "noise"}


# ---- what sections show together -------------------------------------------------------------------------
def worst_case(sections: list[Section], settings: dict) -> Section:
    """The share of images that stay correct under every attack of one norm and size, image by image."""
    result = Section("Worst case over all attacks", (
        "An image counts where every attack of this norm and size leaves its label correct. Attacks that are "
        "made for this model (adaptive ones) were not tried; they can only lower these shares."))
    there = {m.name: m for s in sections for m in s.measures if m.name in ATTACKS}
    nearest = ["cw_accuracy", "noise_accuracy_l2"]
    groups = {WORST: ["pgd_accuracy", "black_box_accuracy", "noise_accuracy"],
              f"{WORST}_l2": nearest} if settings["norm"] != "L2" else {WORST: [*ATTACKS]}
    for name, attacks in groups.items():
        if measures := [there[attack] for attack in attacks if attack in there]:
            size = shown(NORMS["L2"](settings["l2"]) if attacks is nearest
                         else NORMS[settings["norm"]](settings["eps"]))
            words = list(dict.fromkeys(ATTACKS[m.name] for m in measures))
            hits = torch.tensor([m.images for m in measures]).bool().all(0)
            result.measures.append(share(name, f"correct under each of: {', '.join(words)} ({size})", hits,
                                         better="higher"))
    return result


def misleading(measures: dict[str, Measure]) -> dict[str, str]:
    """Signs, over several sections, that gradients mislead the attacks: `{name: sentence}`.

    Of those that Athalye, Carlini and Wagner (2018, Section 3.1) list: attacks that use gradients find less
    than a search without them.
    """
    warned: dict[str, list] = {}
    for name, other, attack in (("attack-weaker-than-noise", "noise_accuracy", "pgd_accuracy"),
                                ("attack-weaker-than-noise", "noise_accuracy_l2", "cw_accuracy"),
                                ("attack-weaker-than-black-box", "black_box_accuracy", "pgd_accuracy")):
        if {other, attack} <= {*measures} and measures[other].value < measures[attack].value:
            warned.setdefault(name, []).append(
                f"{measures[other].value:.1%} of the images are {measures[other].label}, but "
                f"{measures[attack].value:.1%} are {measures[attack].label}.")
    noise = measures.get("noise_1")
    if noise and noise.low is not None and noise.low > MOST:
        warned["noise-as-good-as-gradient"] = [
            f"Noise as long as a step along the gradient flips {noise.value:.1%} of the labels that the step "
            "flips: the gradient is hardly better than a random direction."]
    return {name: f"{' '.join(texts)} The gradients mislead the attacks, and accuracy under them is no "
            "evidence of robustness." for name, texts in warned.items()}


# ---- the card --------------------------------------------------------------------------------------------
@dataclass
class Card:
    """`sections` is {model: [Section, ...]}, of one or two models; `settings` and `provenance` say how."""
    sections: dict[str, list[Section]]
    settings: dict
    provenance: dict = field(default_factory=dict)

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
            measures = [m for s in sections for m in s.measures if m.n]
            wide = [m.label for m in measures if m.unit == "%" and m.high - m.low > WIDE]
            few = [m.label for m in measures if m.unit != "%" and m.n < FEW]
            texts = [f"shares with an interval wider than {100 * WIDE:.0f} points: {len(wide)}, "
                     f"for example “{wide[0]}”"] if wide else []
            texts += [f"{len(few)} of the quantiles rest on fewer than {FEW} images, for example "
                      f"“{few[0]}”"] if few else []
            if texts:
                warned[model, "few-images"] = f"{'; '.join(texts)}; take more images."
        if against := [f"“{label}”" for _, label, better in self.preferences
                       if self.more_robust and better != self.more_robust]:
            other = next(model for model in self.sections if model != self.more_robust)
            warned["both", "rank-disagrees"] = (
                f"Under the attacks {self.more_robust} is more robust; {other} is better in "
                f"{'; '.join(against)}.")
        return warned

    @property
    def headlines(self) -> list[str]:
        """One sentence for each model: the worst case over the attacks."""
        rows = ((model, m) for model in self.sections for m in self.measures(model).values())
        return [f"{model}: {round(m.value * m.n)} of {m.n} images ({m.low:.0%} to {m.high:.0%}) are "
                f"{m.label}{'; its gradients mislead the attacks' * (model in self.misled)}."
                for model, m in rows if m.name == WORST]

    @cached_property
    def misled(self) -> list[str]:
        """The models whose gradients mislead the attacks: these show no robustness."""
        return [model for model in self.sections if misleading(self.measures(model))]

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
        """`{name: p}`, corrected by Holm, of all measures in which one of two models can be better."""
        first = next(iter(self.sections))
        return holm({name: row.p for name, row in self.differences.items()
                     if row.p is not None and self.measure(first, name).better})

    def beyond_chance(self, name: str) -> bool:
        """Whether two models differ in a measure of which one can be better, for other images, too."""
        row = self.differences.get(name)
        return bool(row) and self.compared.get(name, 1.0) <= CHANCE and not row.low <= 0 <= row.high

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

    def failed(self, conditions: list[tuple[str, str, float]]) -> list[str]:
        """Those of the `conditions` that a model does not meet, in words."""
        missed = []
        for name, sign, limit in conditions:
            for model in self.sections:
                value = getattr(self.measures(model).get(name), "value", None)
                if value is None or not SIGNS[sign](value, limit):
                    missed.append(f"{model}: {name} = {value}, not {sign} {limit:g}")
        return missed

    def json(self) -> dict:
        """Every number, as plain values."""
        differences = {name: row._asdict() | {"p_holm": self.compared.get(name)}
                       for name, row in self.differences.items()}
        return {"provenance": self.provenance, "settings": self.settings, "differences": differences,
                "sections": {m: [asdict(s) for s in sections] for m, sections in self.sections.items()},
                "warnings": {f"{m}: {name}": text for (m, name), text in self.warnings.items()}}

    def save(self, path: str | Path) -> None:
        """Write one self-contained HTML file, and its numbers as JSON."""
        path = html_path(path)
        for file, text in ((path, self.html()), (path.with_suffix(".json"), json.dumps(self.json()))):
            runtime.write_atomically(file, lambda part, text=text: part.write_text(text, encoding="utf-8"))

    def html(self) -> str:
        """The card as one HTML page without anything from elsewhere."""
        return page.page(self)

    def _repr_html_(self):
        return page.body(self)

    def __repr__(self):
        rows = ((model, m) for model, sections in self.sections.items() for s in sections for m in s.measures)
        lines = [f"{model}: {m.name} {m.value:.3g} ({m.label})" for model, m in rows if m.value is not None]
        lines += [f"{model}: not measured, {s.title}: {s.error}"
                  for model, sections in self.sections.items() for s in sections if s.error]
        lines += [f"warning {name}, {model}: {text}" for (model, name), text in self.warnings.items()]
        return "\n".join([*lines, *self.headlines])


def html_path(path: str | Path) -> Path:
    """The path of a card; raises UserError for one that does not end in .html."""
    if Path(path).suffix != ".html":
        raise UserError(f"{path}: the card is written as HTML; take a name that ends in .html")
    return Path(path)


def card(model: Any, x: torch.Tensor, y: torch.Tensor, *, images: int = 100, retrained: Any = (),
         seed: int = 0, eps: float | None = None, norm: str = "Linf", restarts: int = 5,
         ssim_convention: str | None = None, file: str | Path | None = None,
         log: Callable[[str], Any] | None = None) -> Card:
    """The `Card` of a model, or of two as {name: model}.

    x, y       images [N, C, H, W], float32 in [0, 1] or uint8; their classes, whole numbers [N]
    images     how many of them, drawn at random, the attacks take
    retrained  models trained in the same way from other seeds, for the last section; {name: [model]} of two
    seed       of everything random
    eps, norm  size of the perturbations, on the scale of pixels in [0, 1], in "Linf" or "L2"; None: a usual
               one, in Linf 0.1 for grey images (MNIST) and 8/255 for colour (CIFAR)
    restarts   of PGD: random starts; the black-box search has as many passes
    ssim_convention  as in `similarity.ssim`; None: "matlab", or "uniform" where images are too small for it
    file       JSON file that keeps what is finished: a card that was stopped goes on there
    log        function that gets a line for each finished instrument, such as `print`

    Every model classifies some of the images before the first instrument starts. Raises UserError for images,
    labels, settings or models that are not so, such as one with a softmax inside.
    """
    models = {str(k): m for k, m in model.items()} if isinstance(model, dict) else {"model": model}
    if not 1 <= len(models) <= 2 or not all(map(callable, models.values())):
        raise UserError("one model, or two as {name: model}, are needed, each a callable")
    others = retrained if isinstance(retrained, dict) else dict.fromkeys(models, retrained)
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
    about = provenance(models, x, y, settings, next(iter(tasks.values())).attacks)
    kept, sections = _kept(file), {name: [] for name in models}
    code = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in CODE]
    key = content.of_json([about["data"], settings, code])[:16]
    with runtime.progress(len(models) * len(SECTIONS), "card") as bar:
        for name, task in tasks.items():
            own = " ".join([name, key, *(_answers(m, task) for m in (task.model, *task.retrained))])
            for instrument in SECTIONS:
                bar.set_description(f"{name}: {instrument.title}")
                if instrument.measures is not retrainings or task.retrained:
                    raw = kept.get(f"{own} {instrument.title}") or asdict(section(instrument, task))
                    measures = [Measure(**m) for m in raw["measures"]]
                    sections[name].append(Section(**raw | {"measures": measures}))
                    if file and not raw["error"]:
                        kept[f"{own} {instrument.title}"] = raw
                        runtime.write_atomically(
                            Path(file), lambda part: part.write_text(json.dumps(kept), encoding="utf-8"))
                    if log:
                        stopped = f", {raw['error']}" if raw["error"] else ""
                        log(f"{name}: {instrument.title}, {raw['seconds']} s{stopped}")
                bar.update()
    _pair(*sections.values())
    for several in sections.values():
        several.insert(0, worst_case(several, settings))
    return Card(sections, settings, about)


def _settings(x, *, images, seed, eps, norm, restarts, ssim_convention, retrained):
    """The settings as plain values; raises UserError where one cannot be."""
    images, seed = min(_whole("images", images, 1), len(x)), _whole("seed", seed)
    if norm not in NORMS:
        raise UserError(f"norm={norm!r}; allowed: {', '.join(NORMS)}")
    if eps is not None and not (isinstance(eps, numbers.Real) and 0 < eps < float("inf")):
        raise UserError(f"eps={eps!r}; a number above 0 is needed, on the scale of pixels in [0, 1]")
    if ssim_convention not in (None, *CONVENTIONS):
        raise UserError(f"ssim_convention={ssim_convention!r}; allowed: {', '.join(CONVENTIONS)}")
    pixels, grey = x[0].numel(), x.shape[1] == 1
    usual = {"Linf": 0.1 if grey else 8 / 255,      # sizes usual for MNIST and for CIFAR
             "L2": 1.5 * (pixels / 784) ** 0.5 if grey else 0.5 * (pixels / 3072) ** 0.5}
    eps = usual[norm] if eps is None else float(eps)
    window = ssim_convention or ("matlab" if min(x.shape[2:]) >= 11 else "uniform")
    settings = {"images": images, "all": len(x), "shape": list(x.shape[1:]), "seed": seed, "norm": norm,
                "eps": eps, "l2": eps if norm == "L2" else usual["L2"], "retrained": retrained,
                "restarts": _whole("restarts", restarts, 1), "ssim_convention": window}
    # Known networks are shown beside models that were measured in the same way.
    same = norm == "Linf" and eps == usual[norm] and restarts == 5 and window == "matlab"
    return settings | {"usual": same}


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
        return dict(json.loads(Path(file).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{file}: no card to go on with ({error}); name another file") from None
