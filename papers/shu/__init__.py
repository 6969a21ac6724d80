"""Shu, Xi and Kamhoua 2022 (`shu`): boxes of adversarial examples, and regions where retrained networks disagree."""
