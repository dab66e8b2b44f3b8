"""A radix tree over prompts: what of a prompt was read before, told in tokens.

A prompt is a row of ids of which each stands for ``unit`` tokens (1 for token ids, 512 for the published traces of hashed
blocks); its length in tokens may end inside the last of them. Places in the tree are counted in tokens, so that a policy may
cut a prompt anywhere, inside a hashed block too: what it means there is the same in every prompt that has the id.
Ids are kept as ``array("I")``, 4 bytes each, and compared in C.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from promptorder.model.trace import Cause, TraceRequest

Ids: TypeAlias = "array[int]"
_WINDOW_IDS, _WIDEST_IDS = 32, 512
_ID_BITS = 8 * array("I").itemsize


class Node:
    """The tokens from ``start`` to ``end`` of all prompts that run through it; ``ids`` are the ids that these lie in."""

    __slots__ = ("children", "end", "ids", "start")

    def __init__(self, ids: Ids, start: int, end: int) -> None:
        self.ids = ids
        self.start = start
        self.end = end
        self.children: dict[int | bytes, Node] = {}


N = TypeVar("N", bound=Node)


class Trees(Generic[N]):
    """One tree for each kind of prompt that can share nothing with another: by namespace, and by what an id stands for."""

    def __init__(self, new_root: Callable[[Ids, int, int], N], hash_block_tokens: int | None) -> None:
        self._new_root = new_root
        self._hash_block_tokens = hash_block_tokens
        self._roots: dict[tuple[str, int], N] = {}

    def of(self, request: TraceRequest) -> tuple[N, Ids, int, int]:
        """The root of its tree, the request's ids, the tokens that one stands for, and the prompt's length in tokens."""
        ids = request.ids
        if not isinstance(ids, array) or ids.typecode != "I":
            ids = array("I", ids)
        own = request.hash_block_tokens
        if own is None:
            unit, tokens = 1, len(ids)
            key = (request.namespace, 0)
        else:
            unit, tokens = request.sizes(self._hash_block_tokens)
            key = (request.namespace, unit)
        root = self._roots.get(key)
        if root is None:
            root = self._roots[key] = self._new_root(array("I"), 0, 0)
        return root, ids, unit, tokens


def descend(
    node: N, ids: Ids, unit: int, tokens: int, path: list[N], page_tokens: int = 1
) -> tuple[int, N | None]:
    """Follow a prompt from the end of ``node`` down: how many tokens of it the tree has, and the node inside which that ends.

    The nodes that it has whole are appended to ``path``. The second value is None where the last of them is the end.
    With ``page_tokens`` only whole pages are alike, and ``tokens`` are some of these.
    """
    depth = node.end
    while depth < tokens:
        first = depth // unit
        key = ids[first] if page_tokens == 1 else ids_between(ids, unit, depth, depth + page_tokens).tobytes()
        child: N | None = node.children.get(key)  # type: ignore[assignment]  # a tree has nodes of one class
        if child is None:
            break
        end = child.end
        if end <= tokens:
            if child.ids == ids[first : -(-end // unit)]:
                path.append(child)
                node = child
                depth = end
                continue
            most = len(child.ids)
        else:
            end = tokens
            most = -(-end // unit) - first
        equal = _common_start(child.ids, ids, first, most)
        if equal < most:
            end = (first + equal) * unit
            end -= end % page_tokens
        return end, child
    return depth, None


def _common_start(ids: Ids, others: Ids, at: int, most: int) -> int:
    """How many of the first ``most`` of ``ids`` are those of ``others`` from ``at`` on."""
    done, step = 0, _WINDOW_IDS
    while done < most:
        end = min(done + step, most)
        one, other = ids[done:end], others[at + done : at + end]
        if one != other:
            difference = int.from_bytes(one.tobytes(), "little") ^ int.from_bytes(other.tobytes(), "little")
            return done + ((difference & -difference).bit_length() - 1) // _ID_BITS
        done, step = end, min(step * 2, _WIDEST_IDS)
    return most


def ids_between(ids: Ids, unit: int, start: int, end: int) -> Ids:
    """The ids in which the tokens from ``start`` to ``end`` lie."""
    return ids[start // unit : -(-end // unit)]


def cut(node: Node, upper: Node, parent: Node, unit: int, page_tokens: int = 1) -> None:
    """Put ``upper``, a new node without ids, between ``parent`` and ``node``: it takes the tokens up to ``upper.end``."""
    start, at = node.start, upper.end
    ids = node.ids
    base = start // unit
    upper.ids = ids[: -(-at // unit) - base]
    node.ids = ids[at // unit - base :]
    node.start = at
    adopt(parent, upper, unit, page_tokens)
    adopt(upper, node, unit, page_tokens)


def adopt(parent: Node, child: Node, unit: int, page_tokens: int = 1) -> int | bytes:
    """Hang ``child`` under ``parent``, by its first id or page; the key that it hangs by."""
    key: int | bytes = child.ids[0]
    if page_tokens > 1:
        start = child.start
        key = child.ids[: -(-(start + page_tokens) // unit) - start // unit].tobytes()
    parent.children[key] = child
    return key


class Seen:
    """Everything ever read, for the question how far a prompt had been read before."""

    def __init__(self, hash_block_tokens: int | None) -> None:
        self._trees: Trees[Node] = Trees(Node, hash_block_tokens)

    def read(self, request: TraceRequest) -> tuple[int, int]:
        """The prompt's length and how much of its start had been read before, in tokens; it is noted as read.

        What was generated counts as read but for its last token, which no one computed.
        """
        root, ids, unit, prompt_tokens = self._trees.of(request)
        tokens = prompt_tokens
        if len(request.generated) > 1:
            ids, tokens = with_answer(request, ids, tokens)
        path: list[Node] = []
        depth, inside = descend(root, ids, unit, tokens, path)
        if depth < tokens:
            parent = path[-1] if path else root
            if inside is not None:
                upper = Node(ids, inside.start, depth)
                cut(inside, upper, parent, unit)
                parent = upper
            adopt(parent, Node(ids_between(ids, unit, depth, tokens), depth, tokens), unit)
        return prompt_tokens, min(depth, prompt_tokens)


def with_answer(request: TraceRequest, ids: Ids, tokens: int) -> tuple[Ids, int]:
    """A prompt with what was generated behind it, but for the last token, whose keys and values no one computed.

    An answer's tokens cannot be set behind hashed blocks: such a prompt is returned as it is.
    """
    if request.hash_block_tokens is not None:
        return ids, tokens
    whole = ids + array("I", request.generated[:-1])
    return whole, len(whole)


def cause_of(
    prompt_tokens: int, cached_tokens: int, seen_tokens: int, reusable_tokens: int, lost_by: Cause
) -> Cause:
    """Why no more was reused, where ``reusable_tokens`` of the ``seen_tokens`` would be if nothing were ever lost."""
    if cached_tokens < reusable_tokens:
        return lost_by
    if seen_tokens == 0:
        return Cause.FIRST_REQUEST
    return Cause.REPEATED if seen_tokens == prompt_tokens else Cause.FIRST_DIFFERENCE
