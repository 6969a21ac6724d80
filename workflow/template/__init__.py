"""A classifier by the nearest mean image (`doe`): an example of a paper, to be replaced by yours."""
