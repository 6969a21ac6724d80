"""Files that are read back are checked against the form they were written in (types if msgspec is there)."""
import math

from shared import runtime


def check(raw, form, path, remedy):
    """`raw`, if it has the form: a function of msgspec that returns a type (struct or dataclass).

    Raises UserError naming the file, the field, what is wrong with it and the remedy. NaN and infinities are
    refused everywhere; the types of the fields are looked at where msgspec is installed.
    """
    problem = None if isinstance(raw, dict) else "is no object of fields"
    if problem := problem or _wrong(raw, form) or not_finite(raw):
        raise runtime.UserError(f"{path}: {problem}; {remedy}")
    return raw


def _wrong(raw, form):
    """What msgspec finds wrong with the fields, in words, or None."""
    try:
        import msgspec
    except ImportError:  # a machine that only computes
        return None
    try:
        msgspec.convert(raw, form(msgspec))
    except msgspec.ValidationError as error:
        what, _, place = str(error).replace("`", "").partition(" - at ")
        return f"{place.removeprefix('$.')}: {what}" if place else what
    return None


def not_finite(value, place=""):
    """Names the first NaN or infinity inside a value, or None."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"{place} is not a finite number"
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for k, v in inside:
        deeper = f"{place}[{k}]" if isinstance(value, list) else f"{place}.{k}" if place else str(k)
        if found := not_finite(v, deeper):
            return found
    return None
