"""Sums over results of which there may be none: None of nothing, and "no value" in a sentence."""
import math
import statistics

from report import display


def mean(values):
    """Mean of a list of numbers or truths; None of an empty one."""
    return sum(values) / len(values) if len(values) else None


def middle(values):
    """Median of a list of numbers; None of an empty one."""
    return statistics.median(values) if len(values) else None


def percent(part, whole):
    """A share in percent; None of nothing."""
    return 100 * part / whole if whole else None


def share(truths):
    """Share of truths in percent; None of an empty list."""
    return percent(sum(truths), len(truths))


def words(value, unit="%", digits=3):
    """A number for a sentence, with so many significant digits at most; "no value" of None and NaN."""
    if value is None or math.isnan(value):
        return "no value"
    return f"{display.number(float(value), digits=digits)}{unit}"
