"""From runs to pages: what a result is, what it says beside the printed value, and what a reader sees.

experiment, store, provenance       experiments and their runs, a file a run
registry, zoo, pretrained           networks by name; kept ones
reference                           the printed values and claims
comparison, claims, verdict, record     what an item came to
page, results, display              what a notebook calls
finding, chance                     the printed numbers against each other
"""
