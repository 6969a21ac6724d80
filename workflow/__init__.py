"""The commands of `make`: what runs the notebooks and keeps the runs, and says where the book stands."""
import sys

# jsonschema, which nbformat brings, builds a parser of addresses as it is imported: two seconds of every
# command and of every run of a notebook, for a format that no notebook has. Only while it is imported is the
# parser hidden; then it goes on without.
if "jsonschema" not in sys.modules:
    HIDDEN = sys.modules.setdefault("rfc3987_syntax", None)
    import jsonschema  # noqa: F401
    if HIDDEN is None:
        del sys.modules["rfc3987_syntax"]
