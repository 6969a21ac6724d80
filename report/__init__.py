"""From runs to pages: what a result is, what it says beside the printed value, and what a reader sees.

experiment, store, provenance       experiments and their runs, a file a run
registry, zoo, pretrained           networks by name; kept ones
reference                           the printed values and claims
cell, comparison, numbers, scatter  values beside the printed ones: one by one, counted, and drawn
claims, verdict, evidence           what a claim is judged by; what an item came to; checks of theorems
record, tidy                        what is kept of an item; its tidy table, and that of runs
page, parameters, results           what a notebook calls; its parameters; an item on its page
display, prose                      tables, pictures and colours; numbers and sentences of a page
small_network                       a small random network for checks on a page
"""
