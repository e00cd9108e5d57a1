"""The rules for plain English that a program can judge. Code in backticks and 'quoted' names are no prose.

opener    A sentence opens with its subject. One that opens with Of, What, Whoever, Those, Nobody or That is found where
          the opener starts a clause whose subject comes later, or a fragment that has none. Fine are: a question ("What
          is wrong?"); a heading or a label of up to six words ("What it costs"); "Of course", and Of before a count
          ("Of these 22", "Of the 22 networks, 20 are faster"); Those and That before a noun or a verb that they are the
          subject of ("Those devices wait", "That is why", "That takes a second"). The rule finds "That" where it is never
          demonstrative: "That the …", "That of …", "That a …". Messages of four words or more open with a small
          letter, too.
pronoun   A person is they: no he, him or his.
so        "This many" or "as long as" rather than "so many" and "so long". "So many … that" is fine.
begin     Begin is a verb; the noun is start.
go-on     Work continues or resumes, a message is followed by another one; nothing goes on. "Goes on the stack" is fine.
kept      The saved state rather than what is kept.
nobody    No nobody, somebody and whoever: name who it is, or say that it is unused, orphaned or another's.
word      A word that the field does not use for the idea, or that the project has another one for.
"""
import dataclasses
import re
from typing import Iterator

from prose.sources import Passage

HEADING_WORDS = 6

END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*`]*[A-Z])")
# Code, and names that messages quote.
QUOTED = re.compile(r"`[^`]*`|(?<!\w)'[\w.]+'")

OPENER = re.compile(
    r"""[\"'(*]*(?:
    (?P<of>Of)\s(?!%|course\b|these\b|those\b|them\b|the\s(?:\d|two\b|three\b|four\b|five\b|six\b|seven\b|eight\b|nine\b|ten\b))
    |(?P<what>What)\s
    |(?:Whoever|Nobody)\b
    |Those\s(?:that|of|who|whom|whose|which|with|without|in|on|at|to|for|from|after|before|by|beside|between|within|are|were|
        have|had|will|can|may|must|do|it|he|they|we|there|not|alone|only|also|then|here|above|below|people)\b
    |That\s(?:of|the|a|an|it|he|they|we|you|there|each|every|all|both|no|one|its|their|his|these|those|this|some|any|what|who)\b
    )""", re.VERBOSE)
# Short ones are names of columns: "of peak".
SMALL_OPENER = re.compile(r"(?:of\s(?!%|these\b|those\b|them\b)|what\s|whoever\s|nobody\s)\S+(?:\s+\S+){2}")

NOUN_BEGIN = r"(?:\b(?:the|a|an|its|their|each|every|whose|of|at|from|since|until|between)|'s)\sbegins?\b|\bbegin\sand\s(?:the\s)?(?:end|size)\b"

# (rule, what is found, what to say)
PATTERNS = [(rule, re.compile(pattern, re.IGNORECASE), say) for rule, pattern, say in [
    ("pronoun", r"\b(?:he|him|his|himself)\b(?! et al| init)", "they, them, their"),
    ("so", r"\bso\s(?:long|many|often|much|few)\b(?![^,.;:()]*\bthat\b)", "this many, as long as, or the number's name"),
    ("begin", NOUN_BEGIN, "start"),
    ("go-on", r"\b(?:goe?s?|went|gone)\son\b(?!\s(?:the|a|an|its|their|each|every|one|top|disk)\b)|\bgoing\son\s(?:with|from|where)\b",
     "continue, resume"),
    ("kept", r"\bwhat\s(?:is|was|are|were|has\sbeen|it|they|we|the\s\w+)\s(?:has\s|have\s|had\s)?(?:kept|keeps?)\b",
     "the saved state, or its name"),
    ("nobody", r"\b(?:nobody|somebody|whoever|whomever)\b", "no user, another tenant, the caller, unused, orphaned"),
    ("word", r"\b(?:first|second|third)-level\scaches?\b", "L1, L2, L3"),
    ("word", r"\bother\sblocks\b|\blayout\sflips?\b", "layout override"),
    ("word", r"\b(?:preparation\sof\s(?:the\s)?weights|weight\spreparation)\b", "weight prepacking"),
    ("word", r"\boverlapping\ssplits?\b", "tail strategy: shift inwards"),
    ("word", r"\bin\sturns\b", "interleaved"),
    ("word", r"\b(?:surely|luck|luckily)\b", "statistically significant, selection bias, or the reason"),
    ("word", r"\b(?:lessons?|teachers?)\b", "transfer samples"),
    ("word", r"\bno\snumbers?\b(?!\s(?:of|from|or|in|between|beside)\b)", "NaN, or not a number"),
    ("word", r"\bconvolutions?\sby\stiles\b", "Winograd"),
    ("word", r"\b(?:bury|buries|buried)\b", "reap"),
    ("word", r"\b(?:foresight|foresees?|foreseen|outlooks?)\b", "forecast, predict"),
    ("word", r"\b(?:the|a|each|that|same|jobs?|agreement)\sdesks?\b|\b(?:lets?\sin|pardons?)\b", "admission, authorize, refund"),
]]
# Quicker than each pattern by itself, for the sentences that have none.
ANY = re.compile("|".join(pattern.pattern for _, pattern, _ in PATTERNS), re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Finding:
    rule: str
    passage: Passage
    sentence: str
    found: str
    say: str

    def __str__(self) -> str:
        return f"{self.passage.path}:{self.passage.line}: {self.rule}: \"{self.found}\" in \"{self.sentence}\" (say: {self.say})"


def sentences(text: str) -> list[str]:
    return [sentence for sentence in END.split(text) if sentence]


def opens_badly(sentence: str, passage: Passage, is_first: bool) -> re.Match[str] | None:
    """The opener of a sentence that must be read twice, if it has one."""
    if is_first and passage.is_piece:
        return None
    match = OPENER.match(sentence)
    if match is None and passage.is_message and passage.is_public and is_first:
        match = SMALL_OPENER.match(sentence)
    if match is None or sentence.rstrip("\"')*").endswith("?"):
        return None
    is_label = passage.is_heading or (passage.is_public and is_first and not sentence.endswith((".", ":", ";")) and
                                      sentence[0].isupper() and passage.path.startswith(("docs/", "web/")))
    is_short = len(sentence.split()) <= HEADING_WORDS
    return None if match.groupdict().get("what") and is_label and is_short else match


def findings(passage: Passage) -> Iterator[Finding]:
    """Yields each violation of a rule in a passage."""
    text = QUOTED.sub("`x`", passage.text)
    for index, sentence in enumerate(sentences(text)):
        if match := opens_badly(sentence, passage, index == 0):
            yield Finding("opener", passage, sentence, match[0].strip(), "the subject first, or a verb")
        if not ANY.search(sentence):
            continue
        for rule, pattern, say in PATTERNS:
            for match in pattern.finditer(sentence):
                yield Finding(rule, passage, sentence, match[0], say)
