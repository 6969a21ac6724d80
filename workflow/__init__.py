"""The commands behind `make`: what runs the notebooks and keeps the runs, and says where the book stands."""
import sys

# jsonschema, which nbformat brings, builds a parser of addresses as it is imported: two seconds of every
# command and of every run of a notebook, for a format that no notebook has. Without the parser it goes on.
sys.modules.setdefault("rfc3987_syntax", None)
