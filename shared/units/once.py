"""A costly step that units of several pages share, computed once: an attack, before what is measured on it.

    @once.kept(Examples)
    def examples(model, x, y, attack, *, iterations, seed): ...

What it returned lies in the cache folder, with the project code that ran for it and the seconds that it
took. A unit that is given it counts both as its own, so that it says what it would cost on an empty cache.
"""
import functools
import inspect

import torch

from shared import runtime
from shared.data import content
from shared.units import checkpoint, identity, provenance, store

WORTH = 5.0     # seconds: what takes less is computed again rather than kept


def kept(returned):
    """Decorator: let units compute a function of `returned`, a dataclass of tensors, once for its arguments.

    These are tensors, models and what `store.plain` writes; they decide, and with them the device, the
    threads and the versions of the packages. Outside a unit the function is as it is. It keeps no checkpoint.
    """
    def decorate(function):
        @functools.wraps(function)
        def given_or_computed(*args, **named):
            unit = checkpoint.checkpoint("").ran
            if unit is None:
                return function(*args, **named)
            with identity.unrecorded():
                return give(unit, inspect.signature(function).bind(*args, **named).arguments)

        def give(unit, arguments):
            place = runtime.cache_folder() / "once" / f"{function.__name__}-{_key(arguments)}.safetensors"
            if (earlier := checkpoint.Checkpoint(place, unit).load()) is not None:
                tensors, facts = earlier
                unit.seconds += facts["seconds"]
                return returned(**{name: each.to(runtime.device()) for name, each in tensors.items()})
            ran, start = identity.Recorder(), provenance.clock()
            with ran:
                result = function(**arguments)
            unit.resume(ran.ran())
            if (took := provenance.clock() - start) >= WORTH:
                checkpoint.Checkpoint(place, ran).save(vars(result), {"seconds": took})
            return result
        return given_or_computed
    return decorate


def _key(arguments):
    """A short hash of arguments by name, and of what else decides a number."""
    said = {name: _said(value, name) for name, value in arguments.items()}
    where = [provenance.device_model(runtime.device()), torch.get_num_threads(), provenance.versions()]
    return content.of_json([said, where])[:16]


def _said(value, name):
    """What one argument says: a hash of a tensor, of a model's layers and weights, else its plain value."""
    if isinstance(value, torch.Tensor):
        return content.of_arrays({name: value})
    if isinstance(value, torch.nn.Module):
        return content.of_arrays(value.state_dict(), f"{value!r} {value.training}")
    return store.plain(value, name)
