r"""How byte-level vocabularies cut a text into words before merging, by ``tokenizer.ggml.pre``.

Sources: the ``pre`` names and expressions of llama.cpp (src/llama-vocab.cpp) and of OpenAI's encodings. llama.cpp
applies a list of expressions one after the other, each to what the ones before left; here each list is written as one
expression, in which ``\s+(?=...)`` stands for the end of a piece that an earlier expression had cut. The tests hold
each of them to llama.cpp's own tokenizer.
"""

from __future__ import annotations

_SHORT = "'s|'t|'re|'ve|'m|'ll|'d"
_ANY_SHORT = "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]"
_REST = r"\s+(?!\S)|\s"

GPT2 = rf"{_SHORT}| ?\p{{L}}+| ?\p{{N}}+| ?[^\s\p{{L}}\p{{N}}]+|{_REST}"
SMOLLM = rf"\p{{N}}|{_SHORT}| ?\p{{L}}+| ?[^\s\p{{L}}\p{{N}}]+|\s+(?=\p{{N}})|{_REST}"
LLAMA3 = rf"(?:{_ANY_SHORT})|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
_MARKS = r"[\p{P}$+<=>^~|]"
DEFAULT = (
    rf"{_MARKS}+| ?\p{{L}}+|[0-9]{{3}}|(?:(?![0-9]{{3}})\p{{N}})+| ?[^\s\p{{L}}\p{{N}}\p{{P}}$+<=>^~|]+"
    rf"|\s+(?={_MARKS})|{_REST}"
)
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_NOT_LOWER, _NOT_UPPER = r"[\p{L}&&[^a-z]]", r"[\p{L}&&[^A-Z]]"
GPT_4O = O200K.replace(_UPPER, _NOT_LOWER).replace(_LOWER, _NOT_UPPER)
"""What llama.cpp makes of it: capitals and small letters of ASCII alone are told apart."""

_NO_SHORT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
TEKKEN = GPT_4O.replace(_NO_SHORT, "").replace(r"\p{N}{1,3}", r"\p{N}")

_FALCON_MARKS = r"[\p{P}$+<=>^~|`]"
FALCON = (
    rf"{_FALCON_MARKS}+| ?\p{{L}}+|[0-9]{{3}}| ?(?:(?![0-9]{{3}})\p{{N}})+| ?[^\s\p{{L}}\p{{N}}\p{{P}}$+<=>^~|`]+"
    rf"|\s+(?={_FALCON_MARKS})|{_REST}"
)
_HAN_OR_KANA = r"[\u4E00-\u9FA5\u3040-\u30FF]"
_OTHER_LETTER = rf"(?!{_HAN_OR_KANA})[\p{{L}}\p{{M}}]"
DEEPSEEK3 = (
    rf"\p{{N}}{{1,3}}|{_HAN_OR_KANA}+|[!-/:-@\[-`{{-~][A-Za-z]+"
    rf"|[^\r\n\p{{L}}\p{{P}}\p{{S}}\p{{N}}]?(?:{_OTHER_LETTER})+"
    rf"| ?[\p{{P}}\p{{S}}]+[\r\n]*|\s*[\r\n]+|\s+(?=\p{{N}}|{_HAN_OR_KANA})|\s+(?!\S)|\s+"
    rf"|(?:[^\s\p{{L}}\p{{M}}\p{{N}}\p{{P}}\p{{S}}](?!{_OTHER_LETTER}))+"  # what llama.cpp's expressions leave over
)

BY_PRE = {
    **dict.fromkeys(("default", ""), DEFAULT),
    **dict.fromkeys(
        ("gpt-2", "phi-2", "mpt", "olmo", "jais", "gigachat", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "mellum", "a.x-4.0", "trillion"),
        GPT2,
    ),
    **dict.fromkeys(("smollm", "starcoder", "refact", "command-r", "codeshell", "exaone"), SMOLLM),
    **dict.fromkeys(
        ("llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "lfm2", "smaug-bpe", "dbrx", "chatglm-bpe", "glm4", "midm-2.0"),
        LLAMA3,
    ),
    **dict.fromkeys(("qwen2", "stablelm2", "deepseek-r1-qwen", "hunyuan", "megrez", "kormo"), QWEN2),
    **dict.fromkeys(("gpt-4o", "llama4"), GPT_4O),
    "tekken": TEKKEN,
    "falcon": FALCON,
    "deepseek-v3": DEEPSEEK3,
}  # fmt: skip
"""The expression of each name."""

WHOLE_WORDS = frozenset(
    ("llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "lfm2", "tekken", "midm-2.0")
)
"""Those for which a word of the vocabulary is one token even where its merges do not lead there, and BOS is added."""
