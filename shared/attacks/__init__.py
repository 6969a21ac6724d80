"""Threats, the judge of attacks, and one file a family of attacks."""
