"""The kept nets: each is trained once by (architecture, recipe, data set, seed) and verified when read."""
import dataclasses
import functools
import json
import sys
import tempfile
import time
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from report import code, inputs, registry, same, store
from report.repository import ROOT, results_folder
from shared import runtime
from shared.data import content, sets
from shared.inference import accuracy, logits
from shared.training.fit import fit, share
from shared.training.recipe import Recipe

LOOP = 1   # of the training loop: it enters the names of nets, and rises when the loop trains otherwise
ZOO = ROOT / "results" / "zoo"  # the committed ones; new ones go to the cache
OTHER_CODE = "trained by other code than today's"


@dataclasses.dataclass(frozen=True)
class Trained:
    """A trained net, in evaluation mode, with what is known of it."""
    net: torch.nn.Module
    name: str               # <architecture>-<data set>-s<seed>-<hash>, also its file's name
    recipe: Recipe
    train_accuracy: float   # on the images it was trained on, in [0, 1]
    test_accuracy: float    # on the whole test set, in [0, 1]
    seconds: float          # of training, when it was trained
    fingerprint: str        # of its weights
    code: str               # digest of the code that trained it


def net(architecture, recipe, dataset, seed, *, device, hook=None):
    """The `Trained` net of an architecture, recipe, data and seed: committed, else cached, else trained now.

    recipe   a `Recipe`, or the name of one of the paper's (`"paper"` for the constant PAPER in its
             models.py). On embedded data a paper's architecture is trained by its SMOKE, which is made for
             them: with so few images other recipes would hardly begin. Its hook is then SMOKE_TRAINING,
             where the paper has one.
    dataset  a `shared.data.sets.Dataset`, or its name for `sets.load`
    hook     what `fit` takes, a frozen dataclass: its class and its settings enter the net's name

    A kept net of other code is not loaded. It is trained anew, and a line says so; at full scale only runs
    that are recorded do that, and it is then kept with them in place of the committed one. A net whose
    architecture a cell defines is trained each time: no digest sees how the cell was edited.

    Weights are rounded to float16 after training and kept so (running statistics in float32): the net that is
    measured is exactly the net that is kept. Two processes that want one net train it once. Raises UserError
    for an unknown name, a net that never leaves chance accuracy, weights too large for float16, and
    at full scale for a committed net of other code.
    """
    dataset = sets.load(dataset) if isinstance(dataset, str) else dataset
    key, embedded = architecture.split("-")[0], dataset.source in ("embedded", "stand-in")
    if not isinstance(recipe, Recipe) or embedded and registry.is_paper(key):
        recipe = registry.recipe(key, "smoke" if embedded else recipe)
    if embedded:
        hook = registry.training_on_embedded(key, hook)
    with torch.device("meta"):  # layers and shapes alone
        shape = registry.build(architecture)
    name = name_of(shape, architecture, recipe, dataset, seed, hook)
    cached, made_of = _cached(name, hook), (architecture, recipe, dataset, seed, hook, device)
    if not code.in_a_file(registry.place(architecture)[0]):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / cached.name
            _train(path, *made_of)
            return read(path, device)
    path, trained = committed(name), None
    if path is not None and _of_today(path):
        trained = content.sound(path, read, device)
    if trained is None:
        with runtime.lock(cached):  # where another process is training this net, wait for it
            path, trained = cached, content.sound(cached, read, device)
            if trained is None:
                path = _place_of_new(name, cached)
                _train(path, *made_of)
                trained = read(path, device)
    inputs.used("inputs", f"{'cache' if path == cached else 'zoo'}/{name}",
                {"architecture": architecture, "code": trained.code, "weights": trained.fingerprint})
    return trained


# ---- which are kept --------------------------------------------------------------------------------------
def _beside_runs(name):
    return results_folder() / "zoo" / f"{name}.safetensors"


def committed(name):
    """The file of a net that is part of the repository or kept with the recorded runs, else None."""
    return next((path for path in (_beside_runs(name), ZOO / f"{name}.safetensors") if path.exists()), None)


def _cached(name, hook):
    """Where this machine keeps a net. The attack that it was trained on is code of `shared`, which no digest
    covers: a folder is named by its text.
    """
    folder = runtime.cache_folder() / "zoo"
    if hook is not None:
        attacks = sorted((ROOT / "shared" / "attacks").glob("*.py"))
        folder /= content.of_json([path.read_text(encoding="utf-8") for path in attacks])[:10]
    return folder / f"{name}.safetensors"


def _place_of_new(name, cached):
    """Where to keep a net that is to be trained; a line says which committed one it replaces."""
    path = committed(name)
    if path is None:
        return cached
    if sets.origin().startswith("paper") and not inputs.recording() and _of_today(path) is False:
        raise runtime.UserError(f"{name}: {OTHER_CODE}; `make fill` trains it anew for the runs that rest on "
                                "it, and `make same` shows whether the change has any effect")
    if not _of_today(path):
        print(f"not used: {path.name}: {OTHER_CODE}; it is trained anew", file=sys.stderr)
    return _beside_runs(name) if inputs.recording() else cached


def digest(architecture):
    """The digest of the code that decides the weights and the outputs of an architecture's nets."""
    return code.digest([registry.place(architecture),
                        *((part.__module__, part.__name__) for part in (_trained, keep, _filled, Recipe))])


@functools.lru_cache(maxsize=1024)
def _facts(path, _state):
    """The facts of a file, whose weights are not read; {} of a damaged one."""
    try:
        with safe_open(path, "pt") as file:
            return json.loads((file.metadata() or {})["about"])
    except (SafetensorError, OSError, KeyError, ValueError):
        return {}


def facts_of(path):
    """The facts in a zoo file, without its weights: quick, and not verified as by `about`."""
    return _facts(path, path.stat().st_mtime_ns)


def _of_today(path):
    """Whether a file is of code that counts as today's; None of a damaged file."""
    known = facts_of(path)
    if not known:
        return None
    return same.accepted(known["architecture"], known.get("code"), digest(known["architecture"]))


def changed(place, identity, digest=digest):
    """Whether a net that a run opened is another one now, or gone.

    place      "zoo/<name>" of a committed net, "cache/<name>" of one that was kept by one machine
    identity   its architecture, the digest of its code, the fingerprint of its weights
    """
    where, _, name = place.partition("/")
    architecture, path = identity["architecture"], committed(name)
    if path is None and where == "zoo" or path and facts_of(path).get("weights") != identity["weights"]:
        return True
    return not same.accepted(architecture, identity["code"], digest(architecture))


# ---- names, training, files ------------------------------------------------------------------------------
def name_of(untrained, architecture, recipe, dataset, seed, hook=None):
    """`<architecture>-<data set>-s<seed>-<hash>`; the hash is that of everything that decides the weights.

    These are layers, recipe, data, seed, hook and `LOOP`: no setting of the recipe that is at its default.
    """
    layers = [repr(untrained), [[k, list(v.shape)] for k, v in untrained.state_dict().items()]]
    decides = [layers, recipe.settings(), dataset.fingerprint, seed, LOOP]
    decides += [] if hook is None else [store.plain(hook)]
    data = dataset.stand_in or Path(dataset.name).stem
    return f"{architecture}-{data}-s{seed}-{content.of_json(decides)[:10]}"


def _trained(label, architecture, recipe, dataset, seed, hook, device):
    """A net of these, trained and rounded."""
    network = registry.build(architecture, generator=runtime.generator(seed, architecture, "weights"))
    try:
        logits(network, dataset.x_test[:1])
    except RuntimeError:
        raise runtime.UserError(f"{architecture} cannot take images {list(dataset.x_test.shape[1:])} of "
                                f"{dataset.name}; pass images of the size it was made for") from None
    order = runtime.generator(seed, architecture, "order")
    fit(network, dataset.x_train, dataset.y_train, recipe, generator=order, device=device, hook=hook,
        label=label, checkpoint=inputs.checkpoint(label))
    _round_to_half(network, label)
    return network


def _train(path, architecture, recipe, dataset, seed, hook, device):
    """Train a net and keep it in the file `path`. Raises UserError if it stays at chance accuracy."""
    start = time.perf_counter()
    net = _trained(path.stem, architecture, recipe, dataset, seed, hook, device)
    seconds = time.perf_counter() - start
    used = slice(None) if recipe.images is None else share(dataset.y_train, recipe.images)
    train = accuracy(net, dataset.x_train[used], dataset.y_train[used])
    test = accuracy(net, dataset.x_test, dataset.y_test)
    chance = float(torch.bincount(dataset.y_test).max() / len(dataset.y_test))
    if test < 1 and test <= chance + min(0.05, (1 - chance) / 2):
        raise runtime.UserError(f"{path.stem}: test accuracy {test:.3f} never left chance ({chance:.3f}); "
                                "train longer or lower the recipe's rate")
    facts = {"name": path.stem, "architecture": architecture, "recipe": recipe.settings(),
             "data": dataset.describe(), "data_fingerprint": dataset.fingerprint, "dataset": dataset.name,
             "seed": seed, "code": digest(architecture),
             "train_accuracy": train, "test_accuracy": test, "seconds": round(seconds, 2),
             "torch": torch.__version__, "threads": torch.get_num_threads(), "device": str(device)}
    facts |= {} if hook is None else {"hook": store.plain(hook)}
    keep(path, net, facts)


def _round_to_half(network, name):
    with torch.no_grad():
        for key, weights in network.named_parameters():
            half = weights.half()
            if not half.isfinite().all():
                raise runtime.UserError(f"{name}: {key} holds {float(weights.abs().max()):g}, float16 ends "
                                        "at 65504; lower the recipe's rate")
            weights.copy_(half)


def keep(path, network, facts):
    """Write parameters (float16), buffers and facts (plain JSON), to which the weights' fingerprint comes."""
    half = {key for key, _ in network.named_parameters()}
    weights = {k: v.half() if k in half else v for k, v in network.state_dict().items()}
    content.write(path, weights, facts | {"weights": content.fingerprint(weights)})


def about(path):
    """`(facts, weights)` of a zoo file, verified: recipe, data, seed, accuracies, seconds; tensors by name.

    Raises UserError naming a file that is damaged, changed or not one of these.
    """
    path = Path(path)
    try:
        weights, facts = content.read(path)
        if facts["name"] != path.stem:
            raise ValueError(f"it holds {facts['name']}")
        return facts, weights
    except runtime.Unreadable:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise runtime.UserError(f"{path.name} cannot be used ({error}); restore it from git, or delete it "
                                "to have the net trained again") from None


def _filled(network, weights, device):
    if any(weight.is_meta for weight in network.parameters()):
        network.to_empty(device="cpu")
    network.load_state_dict(weights)  # float16 values become float32 without loss
    return network.to(device, memory_format=torch.channels_last).eval()


def read(path, device):
    """The `Trained` net of the zoo file `path`, on `device`.

    Raises UserError as `about` does, and for a net of other code.
    """
    facts, weights = about(path)
    if not _of_today(path):
        raise runtime.UserError(f"{path.name}: {OTHER_CODE}")
    with torch.device("meta"):  # a kept net needs no initial weights
        net = registry.build(facts["architecture"])
    return Trained(_filled(net, weights, device), facts["name"], Recipe(**facts["recipe"]),
                   facts["train_accuracy"], facts["test_accuracy"], facts["seconds"],
                   content.fingerprint(weights), facts["code"])
