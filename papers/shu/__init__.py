"""Shu, Xi and Kamhoua 2022 (`shu`): boxes of adversarial examples, and where retrained networks disagree."""
