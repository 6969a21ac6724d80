"""What `he` alone uses: the settings of its attacks."""
from papers.he import presets
from shared.attacks.optimised import CarliniWagner


def test_presets(stored):
    published = [[name, str(value)] for name, value in vars(presets).items()
                 if isinstance(value, CarliniWagner)]
    stored({"published": sum(published, [])})
