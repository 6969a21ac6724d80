"""Numbers as a person writes them, and sentences with computed numbers: templates over facts."""
import math
import operator
import re
import statistics
import string
from types import SimpleNamespace

from report.cell import Cell
from report.comparison import decimals
from shared.runtime import UserError

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value, printed=None, column=None, digits=4):
    """A number as a person writes it: the decimals of the printed one, else `digits` significant ones.

    column  of the printed one: its "decimals", or "peers", the printed numbers beside which it stands
    """
    if value is None:
        return ""
    if hasattr(value, "item"):  # a scalar of numpy or torch
        value = value.item()
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and not math.isfinite(value):
        return "–"
    if isinstance(printed, int | float) or (column and column.get("decimals") is not None):
        like = printed if printed is not None else value
        broken = isinstance(like, float) or isinstance(value, float) and value != like  # a count stays whole
        alike = (column or {}).get("peers", ()) if broken else ()
        return f"{value:,.{decimals(like, column, alike)}f}"
    if isinstance(value, int):
        return f"{value:,}"
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        mantissa, power = f"{value:.{min(digits, 3) - 1}e}".split("e")
        return f"{float(mantissa):g} × 10{str(int(power)).translate(SUPERSCRIPT)}"
    return f"{value:,.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"


def short(value):
    """A number in a sentence: three significant digits."""
    return number(value, digits=3)


def words(value, unit="%", digits=3):
    """A number for a sentence, with so many significant digits at most; "no value" of None and NaN."""
    if value is None or math.isnan(value):
        return "no value"
    return f"{number(float(value), digits=digits)}{unit}"


# ---- sums over results of which there may be none --------------------------------------------------------
def mean(values):
    """Mean of a list of numbers or truths; None of an empty one."""
    return sum(values) / len(values) if len(values) else None


def median(values):
    """Median of a list of numbers; None of an empty one."""
    return statistics.median(values) if len(values) else None


def percent(part, whole):
    """A share in percent; None of nothing."""
    return 100 * part / whole if whole else None


def share(truths):
    """Share of truths in percent; None of an empty list."""
    return percent(sum(truths), len(truths))


# ---- facts and templates ---------------------------------------------------------------------------------
NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def attributes(facts):
    """Facts as attributes, groups and `Cell`s too: `c.brittle.rms.of`. A missing one (None, NaN) is none."""
    groups = {name: vars(value) if isinstance(value, Cell) else value for name, value in facts.items()}
    return SimpleNamespace(**{name: attributes(value) if isinstance(value, dict) else value
                              for name, value in groups.items()
                              if not (value is None or isinstance(value, float) and math.isnan(value))})


def fill(template, facts):
    """A sentence of a template: "{near.region:%} of {images}" with {"near": {"region": 99.0}, "images": 100}.

    A field names a fact. Plain, it is a number as a person writes it, with three digits; with `%`, that
    number of percent; any other format is Python's, as in `{share:.0%}`. What is missing is "no value".
    """
    for field in fields(template):
        if (name := field.partition(".")[0]) not in facts:
            raise UserError(f"no {name!r} there; there are: {', '.join(map(str, facts))}")
    return _Fields().vformat(template, (), facts)


def fields(template):
    """The names in a template. Raises UserError where a field is none."""
    try:
        names = [field for _, field, _, _ in string.Formatter().parse(template) if field is not None]
    except ValueError as error:
        raise UserError(f"template {template!r}: {error}; write a brace as {{{{ or }}}}") from None
    if strange := [field for field in names if not NAME.fullmatch(field)]:
        raise UserError(f"template {template!r}: {strange[0]!r} is no name of a fact; allowed: a name, or "
                        "names with dots between")
    return names


def complete(template, facts):
    """Whether every field of a template has a value."""
    return all(_value(facts, field) is not None for field in fields(template))


def _value(facts, field):
    try:
        return operator.attrgetter(field)(attributes(facts))
    except AttributeError:
        return None


class _Fields(string.Formatter):
    def get_field(self, field_name, args, kwargs):
        return _value(kwargs, field_name), field_name

    def format_field(self, value, format_spec):
        if value is None:
            return "no value"
        return f"{short(value)}{format_spec}" if format_spec in ("", "%") else format(value, format_spec)
