"""Threats, the judge of attacks, and one file a family of attacks."""
VERSION = 1
# 1  as first recorded
