"""He, Li, Song 2018 (`he`): OptMargin, boundary distances in many directions, a classifier of them."""
