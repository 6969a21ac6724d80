"""The attacks of `shu` that no other paper uses, as Foolbox 2 runs them: one file a family."""
