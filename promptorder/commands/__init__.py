"""Commands, one file each. A module defines ``command``, a click command that returns an exit code."""
