"""The form of a record's file."""
from functools import cache
from typing import Annotated, Literal

from shared import runtime, schema
from shared.records.comparison import INTERVAL, PRECISION, STATUSES, TOLERANCE
from shared.records.verdict import VERDICTS

REMEDY = "delete it and run `make records`, which makes it again from the recorded units"


def check(raw, path):
    """`raw` itself, if it is a record; else UserError naming the file, the field and the remedy."""
    schema.check(raw, _form, path, REMEDY)
    if problem := _inconsistent(raw):
        raise runtime.UserError(f"{path}: {problem}; {REMEDY}")
    return raw


def _inconsistent(raw):
    """What is wrong between the fields of a record, or None."""
    word = raw.get("verdict")
    if str(raw.get("item")).startswith("extra-"):
        return None if word is None else "verdict: what the paper does not have earns no verdict"
    if word not in VERDICTS:
        return f"verdict: {word!r} is unknown; allowed: {', '.join(VERDICTS)}"
    return None if isinstance(raw.get("reason"), str) else "lacks the reason of its verdict"


@cache
def _form(msgspec):
    size = Annotated[float, msgspec.Meta(ge=0)]
    share = Annotated[float, msgspec.Meta(ge=0, le=1)]
    value = float | str | bool | None

    class Form(msgspec.Struct, forbid_unknown_fields=True):
        pass

    class Scale(Form):
        parts: dict[str, tuple[size, size]]     # actual, published
        fraction: share
        proxies: dict[str, str]

    class Claim(Form):
        claim: str
        holds: bool | None
        evidence: str

    class Tick(Form):
        what: str
        there: bool

    class Cell(Form):
        row: dict[str, value]
        column: str
        printed: value
        measured: value
        sd: float | None
        nets: int | None
        agrees: bool | None
        how: Literal[PRECISION, TOLERANCE, INTERVAL] | None
        status: Literal[STATUSES] | None
        why: str | None
        settled: bool

    class Provenance(Form):
        data: dict[str, str]
        seeds: list[int]
        versions: list[dict[str, str]]
        devices: list[str]
        threads: list[int]
        revisions: list[str]
        seconds: size

    class Record(Form):
        item: str
        paper: str
        scale: Scale
        claims: list[Claim]
        cells: list[Cell]
        units: list[str] = []
        rows: list[dict] | None = None
        data: dict | list | None = None
        contains: list[Tick] = []
        evidence: dict | None = None
        provenance: Provenance | None = None    # none where it is computed at every build
        verdict: str | None = None              # none for a table that the paper lacks
        reason: str | None = None
        note: str | None = None

    return Record
