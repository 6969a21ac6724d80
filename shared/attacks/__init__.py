"""Threats, the judge of attacks, and one file a family of attacks."""
VERSION = 1
# 1  as first recorded (but for steps of Euclidean length in the L-inf ball, which were of another length: the
#    units of `chen` that took them are computed again under another name; for L2 steps where the gradient's
#    square is 0 in float32; for PGD and FGSM in L1; and for C&W where c times the margin exceeds a million:
#    no other recorded unit has any of these)
