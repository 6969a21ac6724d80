"""What the instruments of the five papers say of one set of networks and images."""
