"""Small linear algebra, for some dozens of calls and three costs: no package is worth its start-up time here."""

from __future__ import annotations

import math
from collections.abc import Sequence

Vector = Sequence[float]
Matrix = list[list[float]]


def dot(a: Vector, b: Vector) -> float:
    """The sum of products."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def cholesky(matrix: Sequence[Vector]) -> Matrix:
    """The lower triangle L with L L' = ``matrix``, which must be symmetric and positive definite."""
    lower: Matrix = []
    for i, row in enumerate(matrix):
        new: list[float] = []
        for j in range(i):
            new.append((row[j] - dot(new, lower[j][:j])) / lower[j][j])
        new.append(math.sqrt(row[i] - dot(new, new)))
        lower.append(new)
    return lower


def forward(lower: Matrix, right: Vector) -> list[float]:
    """Solve L x = ``right``."""
    found: list[float] = []
    for i, row in enumerate(lower):
        found.append((right[i] - dot(found, row[:i])) / row[i])
    return found


def backward(lower: Matrix, right: Vector) -> list[float]:
    """Solve L' x = ``right``."""
    size = len(right)
    found = [0.0] * size
    rest = list(right)
    for i in reversed(range(size)):
        found[i] = rest[i] / lower[i][i]
        for j in range(i):
            rest[j] -= lower[i][j] * found[i]
    return found


def solve(matrix: Sequence[Vector], right: Vector) -> list[float] | None:
    """A symmetric system of a few equations by elimination; None where it has no one solution."""
    size = len(right)
    scale = [math.sqrt(max(0.0, matrix[i][i])) for i in range(size)]
    if min(scale) <= 0:
        return None
    # With ones on the diagonal the pivots tell by themselves how far the columns are apart.
    rows = [
        [matrix[i][j] / (scale[i] * scale[j]) for j in range(size)] + [right[i] / scale[i]]
        for i in range(size)
    ]
    for i in range(size):
        if rows[i][i] < 1e-9:
            return None
        for k in range(i + 1, size):
            factor = rows[k][i] / rows[i][i]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
    found = [0.0] * size
    for i in reversed(range(size)):
        found[i] = (rows[i][size] - dot(rows[i][i + 1 : size], found[i + 1 :])) / rows[i][i]
    return [value / s for value, s in zip(found, scale, strict=True)]


def inverse(matrix: Sequence[Vector]) -> Matrix:
    """With a little on the diagonal: what the calls do not tell is uncertain, not impossible to compute."""
    size = len(matrix)
    steady = [[value * (1 + 1e-7 * (i == j)) for j, value in enumerate(row)] for i, row in enumerate(matrix)]
    columns = [solve(steady, [float(i == j) for i in range(size)]) or [0.0] * size for j in range(size)]
    return [list(row) for row in zip(*columns, strict=True)]
