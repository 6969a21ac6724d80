"""The kept nets: each is trained once by (architecture, recipe, data set, seed) and verified when read."""
import dataclasses
import time
from pathlib import Path

import torch

from report import registry, store
from shared import ROOT, runtime
from shared.data import content, sets
from shared.inference import accuracy, logits
from shared.training.fit import fit, share
from shared.training.recipe import Recipe

LOOP = 1   # of the training loop: it enters the names of nets, and rises when the loop trains otherwise
ZOO = ROOT / "results" / "zoo"  # the committed ones; new ones go to the cache


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


def net(architecture, recipe, dataset, seed, *, device, hook=None):
    """The `Trained` net of these: a committed one, else one from the cache, else trained now.

    recipe   a `Recipe`, or the name of one of the paper's (`"paper"` for the constant PAPER beside the
             architecture). On embedded data a paper's architecture is trained by its SMOKE, which is made for
             them: with so few images other recipes would hardly begin.
    dataset  a `shared.data.sets.Dataset`, or its name for `sets.load`
    hook     what `fit` takes, a frozen dataclass: its class and its settings enter the net's name

    Weights are rounded to float16 after training and kept so (running statistics in float32): the net that is
    measured is exactly the net that is kept. Two processes that want one net train it once. Raises UserError
    for an unknown name, a net that never leaves chance accuracy, and weights too large for float16.
    """
    dataset = sets.load(dataset) if isinstance(dataset, str) else dataset
    key, embedded = architecture.split("-")[0], dataset.source in ("embedded", "stand-in")
    if not isinstance(recipe, Recipe) or embedded and registry.is_paper(key):
        recipe = registry.recipe(key, "smoke" if embedded else recipe)
    with torch.device("meta"):  # layers and shapes alone: a kept net needs no initial weights
        shape = registry.build(architecture)
    name = name_of(shape, architecture, recipe, dataset, seed, hook)
    kept = runtime.cache_folder() / "zoo" / f"{name}.safetensors"
    trained = content.sound(ZOO / kept.name, read, shape, device)
    if trained is None:
        with runtime.lock(kept):  # where another process is training this net, wait for it
            trained = content.sound(kept, read, shape, device)
            if trained is None:
                draw = runtime.generator(seed, architecture, "weights")
                untrained = registry.build(architecture, generator=draw)
                _train(untrained, kept, architecture, recipe, dataset, seed, hook, device)
                trained = read(kept, shape, device)
    runtime.used("nets", trained.name, trained.fingerprint)
    return trained


def name_of(untrained, architecture, recipe, dataset, seed, hook=None):
    """`<architecture>-<data set>-s<seed>-<hash>`; the hash is that of everything that decides the weights.

    These are layers, recipe, data, seed, hook and `LOOP`: no setting of the recipe that is at its default.
    """
    layers = [repr(untrained), [[k, list(v.shape)] for k, v in untrained.state_dict().items()]]
    decides = [layers, recipe.settings(), dataset.fingerprint, seed, LOOP]
    decides += [] if hook is None else [store.plain(hook)]
    data = dataset.stand_in or Path(dataset.name).stem
    return f"{architecture}-{data}-s{seed}-{content.of_json(decides)[:10]}"


def _train(net, path, architecture, recipe, dataset, seed, hook, device):
    try:
        logits(net, dataset.x_test[:1])
    except RuntimeError:
        raise runtime.UserError(f"{architecture} cannot take images {list(dataset.x_test.shape[1:])} of "
                                f"{dataset.name}; pass images of the size it was made for") from None
    start = time.perf_counter()
    order = runtime.generator(seed, architecture, "order")
    fit(net, dataset.x_train, dataset.y_train, recipe, generator=order, device=device, hook=hook,
        label=path.stem)
    seconds = time.perf_counter() - start
    _round_to_half(net, path.stem)
    used = slice(None) if recipe.images is None else share(dataset.y_train, recipe.images)
    train = accuracy(net, dataset.x_train[used], dataset.y_train[used])
    test = accuracy(net, dataset.x_test, dataset.y_test)
    chance = float(torch.bincount(dataset.y_test).max() / len(dataset.y_test))
    if test < 1 and test <= chance + min(0.05, (1 - chance) / 2):
        raise runtime.UserError(f"{path.stem}: test accuracy {test:.3f} never left chance ({chance:.3f}); "
                                "train longer or lower the recipe's rate")
    facts = {"name": path.stem, "architecture": architecture, "recipe": recipe.settings(),
             "data": dataset.describe(), "data_fingerprint": dataset.fingerprint, "seed": seed,
             "train_accuracy": train, "test_accuracy": test, "seconds": round(seconds, 2),
             "torch": torch.__version__, "threads": torch.get_num_threads(), "device": str(device)}
    facts |= {} if hook is None else {"hook": store.plain(hook)}
    keep(path, net, facts)


def _round_to_half(net, name):
    with torch.no_grad():
        for key, weights in net.named_parameters():
            half = weights.half()
            if not half.isfinite().all():
                raise runtime.UserError(f"{name}: {key} holds {float(weights.abs().max()):g}, float16 ends "
                                        "at 65504; lower the recipe's rate")
            weights.copy_(half)


def keep(path, net, facts):
    """Write parameters (float16), buffers and facts (plain JSON)."""
    half = {key for key, _ in net.named_parameters()}
    content.write(path, {k: v.half() if k in half else v for k, v in net.state_dict().items()}, facts)


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


def read(path, net, device):
    """Fill `net` from the zoo file `path`: a `Trained` on `device`. Raises UserError as `about` does."""
    facts, weights = about(path)
    if any(weight.is_meta for weight in net.parameters()):
        net.to_empty(device="cpu")
    net.load_state_dict(weights)  # float16 values become float32 without loss
    net.to(device, memory_format=torch.channels_last).eval()
    return Trained(net, facts["name"], Recipe(**facts["recipe"]), facts["train_accuracy"],
                   facts["test_accuracy"], facts["seconds"], content.fingerprint(weights))
