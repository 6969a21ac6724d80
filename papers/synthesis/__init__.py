"""The instruments of the five papers on one set of networks and images."""
