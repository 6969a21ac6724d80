"""The report card on the command line: models from modules and files, conditions, the exit status."""
import argparse
import importlib
import re
import sys
from itertools import zip_longest
from pathlib import Path

import torch
from tqdm import tqdm

from ..data import archives
from ..runtime import UserError
from .instruments import one_line
from .report import SIGNS, card

DESCRIPTION = ("A report card of any model: each instrument on the same images, with intervals, in Python, "
               "Jupyter or HTML.")


def factory(name, weights=None):
    """The model that `package.module:function` makes, called without arguments; with a safetensors file."""
    module, _, function = name.partition(":")
    try:
        model = getattr(importlib.import_module(module), function)()
    except Exception as error:      # of the reader's own code, too
        raise UserError(f"model {name!r}: {one_line(error)}; write package.module:function, importable from "
                        "here and called without arguments") from None
    if weights:
        from safetensors import SafetensorError
        from safetensors.torch import load_file
        try:
            model.load_state_dict(load_file(weights))
        except (SafetensorError, OSError, RuntimeError, AttributeError) as error:
            raise UserError(f"weights {weights}: {one_line(error)}; a safetensors file of this model's "
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
    parser = argparse.ArgumentParser(prog="python -m shared.card", description=DESCRIPTION)
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
