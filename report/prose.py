"""Numbers as a person writes them, and sentences with computed numbers: templates over facts."""
import math
import string

from report import expression
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


def fill(template, facts):
    """A sentence of a template: "{near.region:%} of {images}" with {"near": {"region": 99.0}, "images": 100}.

    A field is an expression over `facts` (`records.expression`). Plain, it is a number as a person writes it,
    with three digits; with `%`, that number of percent; any other format is Python's, as in `{share:.0%}`.
    What is missing is "no value".
    """
    fields(template)
    return _Fields().vformat(template, (), facts)


def fields(template):
    """The expressions in a template, with their parts parsed. Raises UserError where one is none."""
    try:
        found = [field for _, field, _, _ in string.Formatter().parse(template) if field is not None]
    except ValueError as error:
        raise UserError(f"template {template!r}: {error}; write a brace as {{{{ or }}}}") from None
    for field in found:
        expression.parse(field)
    return found


def complete(template, facts):
    """Whether every field of a template has a value."""
    return all(expression.value(field, facts) is not None for field in fields(template))


class _Fields(string.Formatter):
    def get_field(self, field_name, args, kwargs):
        return expression.value(field_name, kwargs), field_name

    def format_field(self, value, format_spec):
        if value is None:
            return "no value"
        if format_spec in ("", "%"):
            return f"{number(value, digits=3)}{format_spec}"
        return format(value, format_spec)
