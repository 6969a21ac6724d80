"""Numbers as a person writes them, and sentences with computed numbers: templates over facts."""
import math
import operator
import re
import statistics
import string

from report.cell import Cell
from report.comparison import decimals
from shared.runtime import UserError

NO_VALUE = "no value"
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value, printed=None, column=None, digits=4):
    """A number as a person writes it: the decimals of the printed one, else `digits` significant ones.

    column  of the printed one: its "decimals", or "least_decimals" of a number that is not whole
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
    stated = column is not None and column.get("decimals") is not None
    if isinstance(printed, int | float) or stated:
        like = printed if printed is not None else value
        broken = isinstance(like, float) or isinstance(value, float) and value != like  # a count stays whole
        return f"{value:,.{decimals(like, column if broken or stated else None)}f}"
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
        return NO_VALUE
    return f"{number(float(value), digits=digits)}{unit}"


# ---- sums over numbers of which there may be none --------------------------------------------------------
def mean(values):
    """Mean of a list of numbers or truths; None of an empty one."""
    return math.fsum(values) / len(values) if len(values) else None


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
class NoValue(Exception):
    """Raised where a value is read that is missing, None or NaN; the text is what a reader sees instead."""

    def __init__(self, why=NO_VALUE):
        super().__init__(why)


class Facts:
    """Facts as attributes, groups and `Cell`s too: `c.brittle.rms.of`; `"fgsm" in c`: whether it has a value.

    Raises NoValue where a fact is missing, and UserError for a name that is no fact.
    """

    def __init__(self, facts):
        self._facts = facts

    def _value(self, name):
        if name not in self._facts:
            raise UserError(f"no {name!r} there; there are: {', '.join(map(str, self._facts)) or 'none'}")
        value = self._facts[name]
        value = vars(value) if isinstance(value, Cell) else value
        return None if isinstance(value, float) and math.isnan(value) else value

    def __contains__(self, name):
        return self._value(name) is not None

    def __getattr__(self, name):
        if name.startswith("__"):       # looked up by Python on any object
            raise AttributeError(name)
        if (value := self._value(name)) is None:
            raise NoValue
        return Facts(value) if isinstance(value, dict) else value


class _Fields(string.Formatter):
    """`str.format` on facts: a number is written by `short` unless its field has a format of Python's."""
    def get_field(self, name, args, kwargs):
        try:
            return operator.attrgetter(name)(Facts(kwargs)), name
        except NoValue:
            return None, name

    def format_field(self, value, format_spec):
        if value is None:
            return NO_VALUE
        return f"{short(value)}{format_spec}" if format_spec in ("", "%") else format(value, format_spec)


def fill(template, facts):
    """A sentence of a template: "{near.region:%} of {images}" with {"near": {"region": 99.0}, "images": 100}.

    A field names a fact. Plain, it is a number as a person writes it, with three digits; with `%`, that
    number of percent; any other format is Python's, as in `{share:.0%}`. A fact without a value is "no
    value". Raises UserError for a name that is no fact.
    """
    return _Fields().vformat(template, (), facts)


def complete(template, facts):
    """Whether every field of a template has a value."""
    try:
        return NO_VALUE not in fill(template, facts)
    except UserError:       # a fact is not there at all
        return False


def first(facts, *variants):
    """The first template whose fact is true, of pairs (fact, template) and a last template without a fact.

    Where there are no facts, a template that no fact completes.
    """
    *pairs, last = variants
    return next((words for fact, words in pairs if facts[fact]), last) if facts else "{nothing}"


SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


WORDS = {"ssim": "SSIM", "sd": "SD", "pct": "(%)", "asr": "ASR", "fsa": "FSA", "fsd": "FSD", "roby": "ROBY",
         "l1": "ℓ₁", "l2": "ℓ₂", "linf": "ℓ∞", "delta": "δ", "dims": "dimensions", "m1": "M₁",
         "adv": "adversarial", "pgd_adversarial": "adversarial (PGD)", "x_b": "mixed with", "s_(i)": "s₍ᵢ₎",
         "(row)": "row",
         "mnist": "MNIST", "fashion_mnist": "Fashion-MNIST", "cifar10": "CIFAR-10", "gtsrb": "GTSRB",
         "imagenet1000": "ImageNet", "images_train": "training images", "images_test": "test images",
         "images_attack": "images drawn for the attack", "images_random": "images perturbed at random",
         "sample": "images of the classifiers"}


def in_words(name):
    """A heading or the name of a number as a reader may meet it: `mean_ssim_row_1` is "mean SSIM row 1".

    Symbols of the papers keep their indices: `M_1` is "M₁". What is printed in words stays as it is.
    """
    if name in WORDS:
        return WORDS[name]
    name = re.sub(r"\b([A-Z])_(\d+)\b", lambda m: m[1] + m[2].translate(SUBSCRIPT), name)
    if re.fullmatch(r"[a-z]\.\w+", name):  # a number of one panel of a figure
        return f"panel {name[0]}: {in_words(name[2:])}"
    words = name.replace("_", " ").split()
    if "adv" in words[1:] and "training" not in words:  # a column of what was trained on adversarial images
        words.insert(words.index("adv") + 1, "training")
    return " ".join(WORDS.get(word, word) for word in words)
