"""Sutton et al. 2023 (`sutton`): random against adversarial perturbations, in theorems and on four data sets.

Sections 4 and 5, the theorems: `theory` (formulas, exact values), `theorem` (a statement on its page),
`sketches` (curves and figures), `explorer` (the figure with sliders).
Section 7, the experiments: `models`, `experiments`, `class_pairs` (how one is measured); `definitions` (the
checks of Section 7.1), `tables` and `figures` (rows and drawings of Section 7.2), `study` (the rules that ask
which network it is), `noise` and `training_noise` (training with noise), `traffic_signs` (their data),
`photographs` (ImageNet).
All sections: `claims`, `audit`.
"""
