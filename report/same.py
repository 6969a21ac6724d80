"""Which digests of code (`report.code`) were shown to give the same results, by `make same`.

`same.json` is `{experiment or architecture: [[digests of equal results], ...]}`. A name that is not there has
no code that was changed and shown to be the same.
"""
import json
from pathlib import Path

from shared.runtime import UserError, write_text

FILE = Path(__file__).with_name("same.json")


def known():
    """`{name: [{digests of equal results}, ...]}`. Raises UserError for a damaged file."""
    if not FILE.exists():
        return {}
    try:
        groups = json.loads(FILE.read_text(encoding="utf-8"))
        return {name: [set(group) for group in some] for name, some in groups.items()}
    except (ValueError, AttributeError, TypeError):
        raise UserError(f"{FILE}: damaged; restore it from the repository, or delete it and show anew by "
                        "`make same` what gives the same results") from None


def accepted(name, stored, now):
    """Whether what code of the digest `stored` computed counts as computed by that of `now`.

    name   of an experiment, such as "he/attacks", or of an architecture, such as "ren-a"
    """
    return stored == now or any({stored, now} <= group for group in known().get(name, ()))


def enter(pairs):
    """Note `{name: (digest, digest)}` of code that was shown to give the same results."""
    groups = known()
    for name, pair in pairs.items():
        joined = [group for group in groups.get(name, []) if group & set(pair)]
        others = [group for group in groups.get(name, []) if group not in joined]
        groups[name] = [*others, set(pair).union(*joined)]
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(sorted(map(sorted, groups[name])))}"
                       for name in sorted(groups))
    write_text(FILE, f"{{\n{lines}\n}}\n")
