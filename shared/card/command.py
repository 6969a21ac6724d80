"""The report card on the command line: models from modules and files, conditions, the exit status."""
import argparse
import importlib.util
import pickle
import re
import sys
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path

import torch
from tqdm import tqdm

from .. import runtime
from ..data import archives
from ..inference import Adapted, Model, adapt
from ..runtime import UserError
from ..similarity import CONVENTIONS
from .instruments import NORMS, SECTIONS, one_line, retrainings
from .report import SIGNS, WORST, card, html_path

DESCRIPTION = ("A report card of any model: each instrument on the same images, with intervals, in Python, "
               "Jupyter or HTML.")
FAILED = 2      # exit status where a condition is not met; that of `make`, too
NESTED = "state_dict", "model_state_dict"       # keys under which training scripts keep weights


def factory(name: str, weights: str | None = None, mean: list[float] | None = None,
            std: list[float] | None = None) -> Model:
    """The model that `package.module:function` or `folder/file.py:function` makes, called without arguments.

    weights    a safetensors file, or one of PyTorch (.pt, .pth), which is read without unpickling objects
    mean, std  of each channel, by which the model expects pixels normalised (`inference.adapt`)
    Raises UserError for what cannot be made or read.
    """
    module, _, function = name.rpartition(":")
    if not module:
        raise UserError(f"model {name!r}: write package.module:function or folder/file.py:function"
                        + f", to which the weights {weights} belong" * bool(weights))
    try:
        model = getattr(_module(module), function)()
    except Exception as error:      # of the reader's own code, too
        raise UserError(f"model {name!r}: {one_line(error)}; write package.module:function, importable from "
                        "here, or folder/file.py:function; it is called without arguments") from None
    if weights:
        _load(model, weights)
    return model if mean is None and std is None else adapt(model, mean=mean, std=std)


def _module(name):
    """The module of a name, or of a file: files of one name in two folders are two modules."""
    if not name.endswith(".py"):
        return importlib.import_module(name)
    path = Path(name).resolve()
    sys.path.insert(0, str(path.parent))        # where its own imports lie
    spec = importlib.util.spec_from_file_location(str(path), path)
    assert spec and spec.loader                 # a name that ends in .py has one
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)   # dataclasses look there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module


def _load(model, path):
    """Give a model the weights of a file; one that `adapt` made may have those of the model inside."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file
    from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present
    try:
        if Path(path).suffix == ".safetensors":
            state = load_file(path)
        else:
            state = torch.load(path, map_location="cpu", weights_only=True)
            state = next((state[key] for key in NESTED if key in state), state)
        consume_prefix_in_state_dict_if_present(state, "module.")
        whole = all(key.startswith("model.") for key in state)
        (model.model if isinstance(model, Adapted) and not whole else model).load_state_dict(state)
    except (SafetensorError, pickle.UnpicklingError, OSError, EOFError, ValueError, KeyError, TypeError,
            RuntimeError, AttributeError) as error:
        raise UserError(f"weights {path}: {one_line(error)}; a file of this model's state_dict is needed, "
                        "safetensors or .pt of tensors alone") from None


def images_of(path: str | Path) -> tuple[torch.Tensor, torch.Tensor]:
    """`(x, y)` of an .npz, as `archives.read_own` reads it."""
    arrays = archives.read_own(path)
    return torch.from_numpy(arrays["x_test"]), torch.from_numpy(arrays["y_test"])


def conditions(text: str, names: list[str]) -> list[tuple[str, str, float]]:
    """`[(name, sign, number)]` of "pgd_accuracy>=0.3, accuracy>0.9".

    Raises UserError for another form, and for a name that is none of `names`.
    """
    parsed = []
    for condition in filter(None, map(str.strip, text.split(","))):
        form = re.fullmatch(r"(\w+)\s*(>=|<=|>|<)\s*(-?\d*\.?\d+(?:[eE][+-]?\d+)?)", condition)
        if not form:
            raise UserError(f"condition {condition!r}: write name>=number; allowed: {', '.join(SIGNS)}")
        if form[1] not in names:
            raise UserError(f"no measure {form[1]!r}; there are: {', '.join(names)}")
        parsed.append((form[1], form[2], float(form[3])))
    return parsed


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UserError(f"{message} ({self.prog} --help)")


def _numbers(text):
    """Numbers, such as "0.5,0.5,0.5" or "8/255"."""
    return [float(Fraction(part)) for part in re.split(r"[,\s]+", text.strip())]


def _number(text):
    number, = _numbers(text)
    return number


def main(words: list[str] | None = None) -> int:
    """`python -m shared.card`; the exit status is 2 where a condition of --check is not met."""
    parser = _Parser(prog=f"python -m {__package__}", description=DESCRIPTION)
    add = parser.add_argument
    add("model", nargs="*", help="package.module:function or file.py:function that makes it, or two")
    add("--weights", nargs="+", default=[], help="safetensors or .pt file, one for each model")
    add("--retrained", nargs="+", default=[], help="files of the first model, trained from other seeds")
    add("--mean", type=_numbers, help="of each channel, such as 0.485,0.456,0.406: the models expect pixels "
                                      "normalised by it and --std")
    add("--std", type=_numbers, help="of each channel")
    add("--data", default="", help=".npz with arrays x and y")
    add("--out", default="card.html")
    add("--images", type=int, default=100, help="how many images the attacks take")
    add("--seed", type=int, default=0)
    add("--eps", type=_number, help="size of the perturbations, such as 8/255")
    add("--norm", choices=NORMS, default="Linf")
    add("--restarts", type=int, default=5, help="random starts of PGD")
    add("--ssim", choices=CONVENTIONS, help="window of SSIM; uniform takes images from 7 x 7")
    add("--check", default="", help='such as "worst_accuracy>=0.3"')
    add("--about", nargs="+", default=[], help='what the card says of the models, such as "licence=MIT"')
    given = parser.parse_args(words)
    # What can be wrong is known before the first instrument, which may take minutes.
    if not given.model:
        raise UserError("no model: MODEL=package.module:function of `make card`, or the first argument")
    if not given.data:
        raise UserError("no data: DATA=images.npz of `make card`, or --data, a file with arrays x and y")
    if len(given.weights) > len(given.model):
        raise UserError(f"{len(given.weights)} files of weights for {len(given.model)} models; one for each")
    names = [name for instrument in SECTIONS for name in instrument.names.split()
             if instrument.measures is not retrainings or given.retrained]
    names += [WORST] if given.norm == "L2" else [WORST, f"{WORST}_l2"]
    limits, out, data = conditions(given.check, names), html_path(given.out), images_of(given.data)
    if wrong := [text for text in given.about if not re.fullmatch(r"(?s)[^=]+=.+", text)]:
        raise UserError(f"about {wrong[0]!r}: write field=text, such as \"licence=MIT\"")
    sys.path.insert(0, "")      # the reader's module lies here
    models = {}
    for name, weights in zip_longest(given.model, given.weights):
        short = Path(weights).stem if weights else name
        models[f"{short} {len(models) + 1}" if short in models else short] = factory(
            name, weights, given.mean, given.std)
    retrained = {next(iter(models)): [factory(given.model[0], weights, given.mean, given.std)
                                      for weights in given.retrained]}
    unfinished = out.with_suffix(".part.json")
    report = card(models, *data, images=given.images, seed=given.seed, retrained=retrained, eps=given.eps,
                  norm=given.norm, restarts=given.restarts, ssim_convention=given.ssim, file=unfinished,
                  log=tqdm.write,
                  about={"data": Path(given.data).name} | dict(text.split("=", 1) for text in given.about))
    report.conditions = limits
    report.save(out)
    unfinished.unlink(missing_ok=True)
    print(f"{report}\nwritten: {out}")
    failed = report.failed()
    for text in failed:
        print(f"check failed, {text}")
    return FAILED if failed else 0


def run() -> None:
    """The command, with what a process needs; a terminal that lacks a letter shows another one."""
    runtime.prepare()
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")
    sys.exit(main())
