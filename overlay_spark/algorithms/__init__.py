"""One file an algorithm of a paper: arrays in, arrays out. ``registry`` knows them by name."""
