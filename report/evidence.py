"""Evidence of a check, as `page.statement` takes it."""


def equality(within_allowed, *, changed=(), violations=0):
    """Of an equality that was recomputed another way.

    within_allowed  whether both ways differ by no more than rounding may cause
    changed         of each changed form of the statement, whether the check refuses it
    violations      points at which the two ways disagree
    """
    return {"kind": "equality", "within_allowed": bool(within_allowed), "violations": int(violations),
            "mutants_tried": len(changed), "mutants_caught": sum(map(bool, changed)), "nearest_witness": None}
