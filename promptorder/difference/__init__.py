"""How two prompts, or two requests, differ: the first difference, its kind, and what is lost behind it. Pure.

``drift`` names the change between two texts, ``changes`` and ``history`` that between two requests whose loss is worth a
word (lint's rules for logs), ``first`` finds and names the first difference whatever it costs (``kinds``), ``rendering``
makes texts of requests and ``tokens`` counts them, ``blocks`` tells what stands behind the difference in both, ``reorder``
(with ``moves`` and ``form``) which order would have kept it, and ``shown`` says all of it to people.
"""
