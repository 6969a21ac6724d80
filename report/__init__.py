"""From runs to pages: experiments and their results, comparison with the printed values, output.

experiment, store, provenance       experiments and their runs, a file a run
registry, zoo, pretrained           networks by name; kept ones
reference                           the printed values and claims
cell, comparison, numbers, scatter  comparison with printed values: one by one, counted, and drawn
claims, verdict                     what a claim is judged by; what an item or a check of a theorem came to
record, tidy                        what is kept of an item; its tidy table, and that of runs
page, parameters, pieces            what a notebook calls; its parameters; an item on its page
display, prose                      tables, pictures and colours; numbers and sentences of a page
"""
