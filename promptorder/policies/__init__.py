"""Cache policies, one file each: what an engine or a service would reuse of a trace.

Each module defines ``Options``, a frozen dataclass derived from ``PolicyOptions`` whose fields are the policy's
options with their defaults (``int``, ``float``, ``bool`` or ``str``, or one of them or None), and ``open_cache(options)``, which
returns a ``Cache``. ``SIZE`` names the option that is its capacity, or is None; where there is one, ``size_unit_tokens(options)``
says how many tokens one unit of it holds. The module's docstring says whose rules these are and where they were read.
"""
