"""Strategy profiles, their files and their exact measurement."""

from counterplay.strategy.measurement import Measurement
from counterplay.strategy.profile import Profile, Provenance, normalise

__all__ = ["Measurement", "Profile", "Provenance", "normalise"]
