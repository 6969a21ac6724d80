"""From runs to pages: what a result is, what it says beside the printed value, and what a reader sees.

experiment, store, provenance       experiments and their runs, a file a run
registry, zoo, pretrained           networks by name; kept ones
reference                           the printed values and claims
comparison, numbers, scatter        values beside the printed ones: one by one, and drawn
claims, every, evidence             what a claim is judged by; claims on every case; checks of theorems
verdict, record, flat               what an item came to; its record; its tidy table
page, parameters, results           what a notebook calls; its parameters; an item on its page
display, prose, sums, tidy          tables and pictures, sentences, numbers of a page
finding, chance                     the printed numbers against each other
small_network                       a small random network for checks on a page
"""
