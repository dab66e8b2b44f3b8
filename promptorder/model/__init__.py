"""The types that the rooms of the house hand to each other; standard library only."""
