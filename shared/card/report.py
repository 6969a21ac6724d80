"""The report card of one model, or of two on the same images."""
import json
import operator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import torch

from .. import inference, runtime
from ..data import content
from ..runtime import UserError
from . import page
from .instruments import SECTIONS, Section, Task, retrainings, section
from .measures import Measure, difference

WIDE = 0.25     # width of a share's interval from which the card says that images are few
FEW = 20        # and the number of images below which it says so of a quantile
CODE = "instruments.py", "measures.py"      # other settings of an instrument are another card
SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}


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
        return page.page(self)

    def _repr_html_(self):
        return page.body(self)

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
    code = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in CODE]
    key = content.of_json([content.fingerprint({"x": x, "y": y}), settings, code])[:16]
    with runtime.progress(len(models) * len(SECTIONS), "card") as bar:
        for name, subject in models.items():
            task = Task(subject, x, y, images, others.get(name, []), seed)
            own = " ".join([name, key, *(_answers(m, task) for m in (subject, *task.retrained))])
            for title, function, meaning in SECTIONS:
                bar.set_description(f"{name}: {title}")
                if function is not retrainings or task.retrained:
                    raw = kept.get(f"{own} {title}") or asdict(section(title, function, meaning, task))
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
        return dict(json.loads(Path(file).read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{file}: no card to go on with ({error}); name another file") from None
