"""What belongs to the five papers and is no page: a folder a paper, the same file names in each."""
