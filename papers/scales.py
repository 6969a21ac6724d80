"""The settings of a page at its three scales, one line a setting."""

from shared.runtime import PROFILES


def scales(**settings):
    """`{profile: settings}`: a list has those of smoke, quick and paper, any other value is that of all."""
    def at(n):
        return {name: value[n] if isinstance(value, list) else value for name, value in settings.items()}

    return {profile: at(n) for n, profile in enumerate(PROFILES)}
