"""Whether a text in code or data reads as if it were written for a model."""

from __future__ import annotations

import re

_SPEAKS_TO_A_MODEL = re.compile(
    r"\byou(?:'re| are| will| must| should| can| have| help| run| answer| act| work| get| receive)\b"
    r"|\byour (?:task|job|role|goal|answer|reply|response|name|output)\b"
    r"|\b(?:answer|respond|reply|summari[sz]e|classify|translate|extract|explain|rewrite|analy[sz]e|generate|write|list|return|"
    r"output|quote|keep|never|always|avoid|do not|don't|only|if the|use the|given the|based on|based only|refuse|prefer|ask|"
    r"act as|step by step|assistant|helper|json|rules?|guidelines|instructions|handbook|tools?)\b"
    r"|\b(?:du bist|sie sind|antworte|tu es|vous êtes|réponds|répondez|eres|responde|você é|sei un|rispondi|je bent|"
    r"jesteś|sen bir)\b"
    r"|ты |вы |отвечай|あなたは|ください|你是|您是|请|請|당신은|너는|أنت|आप",
    re.IGNORECASE,
)
_MARKUP = re.compile(
    r"\s*<(?:!doctype|\?xml|html|head|body|div|span|svg|style|script|template|section|main|nav|header|footer|table|form|ul|ol|"
    r"li|p|h\d|a|button|input|img|ng-|v-|slot|label|select|link|meta|td|tr|th)\b",
    re.IGNORECASE,
)
_QUERY = re.compile(
    r"\s*(?:select\b.+?\bfrom\b|insert into\b|update \S+ set\b|delete from\b|create (?:table|index|view)\b|with \w+ as \(|"
    r"query\b[^\n]*\{|mutation\b[^\n]*\{|fragment \w+ on\b)",
    re.IGNORECASE | re.DOTALL,
)
_CODE_LINE = re.compile(
    r"(?m)^\s*(?:(?:import|export|const|let|var|function|return|class|public|private|def|#include|package)\b.*[;{)]"
    r"|[}\]);,]+)\s*$"
)
_LETTER = re.compile(
    r"\s*(?:dear|hi|hello|hey|hallo|liebe[rs]?|bonjour|subject:)\b[^\n.]{0,60}(?:,|!|$)",
    re.IGNORECASE | re.MULTILINE,
)
_LOOKED_AT = 6000


def reads_like_prompt(text: str) -> bool:
    """Whether at least two different things in it are said the way models are spoken to."""
    head = text[:_LOOKED_AT]
    if is_code(head) or _LETTER.match(head):
        return False
    first = ""
    for match in _SPEAKS_TO_A_MODEL.finditer(head):
        word = match[0].lower()
        if not word.isascii() or (first and word != first):
            return True
        first = word
    return False


def is_code(text: str) -> bool:
    """Whether a text is markup, a query or a program, which is rendered or run and not sent to a model."""
    head = text[:_LOOKED_AT]
    if _MARKUP.match(head) or _QUERY.match(head[:400]):
        return True
    lines = head.count("\n") + 1
    return lines > 3 and len(_CODE_LINE.findall(head)) * 2 > lines
