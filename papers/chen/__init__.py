"""Chen et al. 2020 (`chen`): ROBY, an attack-free measure of robustness, beside PGD."""
