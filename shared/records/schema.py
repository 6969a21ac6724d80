"""The forms of what is read back: unit files, records, metadata of kept nets (types if msgspec is there)."""
import math
from functools import cache
from typing import Annotated, Literal

from shared import runtime
from shared.records.comparison import INTERVAL, PRECISION, STATUSES, TOLERANCE
from shared.records.verdict import VERDICTS

REMEDY = {"unit": "restore it from the repository, or delete it and compute the unit again",
          "record": "take any version from the repository and run `make records`",
          "zoo": "restore it from the repository"}


def check(kind, raw, path):
    """`raw` itself, if it has the form of a "unit", a "record" or "zoo" metadata.

    Raises UserError naming the file, the field, what is wrong with it and the remedy. NaN and infinities are
    refused everywhere; the types of the fields are looked at where msgspec is installed.
    """
    if kind not in REMEDY:
        raise runtime.UserError(f"unknown kind of file {kind!r}; allowed: {', '.join(REMEDY)}")
    problem = None if isinstance(raw, dict) else "is no object of fields"
    problem = problem or _form(kind, raw) or _not_finite(raw)
    if not problem and kind == "record":
        problem = _record(raw)
    if problem:
        raise runtime.UserError(f"{path}: {problem}; {REMEDY[kind]}")
    return raw


def _form(kind, raw):
    """What msgspec finds wrong with the fields, in words, or None."""
    if not (forms := _forms()):
        return None
    msgspec, *structs = forms
    try:
        msgspec.convert(raw, dict(zip(REMEDY, structs))[kind])
    except msgspec.ValidationError as error:
        what, _, place = str(error).replace("`", "").partition(" - at ")
        return f"{place.removeprefix('$.')}: {what}" if place else what
    return None


def _not_finite(value, place=""):
    """Names the first NaN or infinity inside a value, or None."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"{place} is not a finite number"
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for k, v in inside:
        deeper = f"{place}[{k}]" if isinstance(value, list) else f"{place}.{k}" if place else str(k)
        if found := _not_finite(v, deeper):
            return found
    return None


def _record(raw):
    """What is wrong between the fields of a record, or None."""
    if "rows" not in raw and "data" not in raw:
        return "lacks both rows and data"
    word = raw.get("verdict")
    if str(raw.get("item")).startswith("extra-"):
        return None if word is None else "verdict: what the paper does not have earns no verdict"
    if word not in VERDICTS:
        return f"verdict: {word!r} is unknown; allowed: {', '.join(VERDICTS)}"
    return None if isinstance(raw.get("reason"), str) else "lacks the reason of its verdict"


@cache
def _forms():
    """msgspec and the forms of unit, record and zoo metadata, or None where it is not installed."""
    try:
        import msgspec
    except ImportError:  # a machine that only computes
        return None
    Size = Annotated[float, msgspec.Meta(ge=0)]
    Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
    Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z]")]       # one that a person can type
    File = Annotated[str, msgspec.Meta(pattern=r"^[^/\\]+$")]      # beside the unit's own
    Value = float | str | bool | None
    Parts = dict[str, tuple[Size, Size]]                            # actual, published

    class Form(msgspec.Struct, forbid_unknown_fields=True):
        pass

    class UnitProvenance(msgspec.Struct):
        data: dict
        nets: dict
        revision: str | None
        device: str
        threads: int
        versions: dict[str, str]
        python: str
        seconds: Size
        when: str

    class Replaced(Form):
        code: str
        same: bool | None
        largest_difference: float | None
        said: str

    class Unit(Form):
        name: Name
        notebook: str
        set: str
        arguments: dict
        parts: Parts
        result: dict
        arrays: dict[str, File]
        code: dict[str, str]
        provenance: UnitProvenance
        replaced: Replaced | None

    class Scale(Form):
        parts: Parts
        fraction: Share
        substitutes: dict | list

    class Claim(Form):
        claim: str
        holds: bool | None
        evidence: str

    class Cell(Form):
        row: dict[str, Value]
        column: str
        printed: Value
        measured: Value
        sd: float | None
        nets: int | None
        agrees: bool | None
        how: Literal[PRECISION, TOLERANCE, INTERVAL] | None
        status: Literal[STATUSES] | None
        why: str | None

    class Record(Form):
        item: str
        paper: str
        units: list[str]
        scale: Scale
        rows: list[dict] | msgspec.UnsetType = msgspec.UNSET
        data: dict | msgspec.UnsetType = msgspec.UNSET
        provenance: dict | msgspec.UnsetType = msgspec.UNSET    # none where it is computed at every build
        claims: list[Claim] = []
        cells: list[Cell] = []
        verdict: str | None = None
        reason: str | None = None
        note: str | None = None

    class Zoo(msgspec.Struct):
        architecture: str
        recipe: dict
        seed: int
        fingerprint: str
        train_accuracy: Share
        test_accuracy: Share
        seconds: Size

    return msgspec, Unit, Record, Zoo
