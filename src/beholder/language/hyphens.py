"""Hyphen compounds as one word: off-white, open-mouthed, brass-colored, eye-level.

Treebanks cut a compound at its hyphens, and its last piece alone would become the attribute
("colored"). Pieces written without a space are put together again; the joined word hangs where the
piece did that led out of the compound.
"""

from __future__ import annotations

from collections.abc import Sequence

from beholder.language.document import Word, tree_depths
from beholder.language.numerals import is_numeral

_BEFORE_A_NOUN = frozenset(
    {"amod", "compound", "nmod", "nummod", "nmod:desc", "acl", "obl", "obl:npmod"}
)


def join_hyphens(words: Sequence[Word]) -> list[Word]:
    """The words with every hyphen compound joined; with new indexes and heads."""
    groups = _groups(words)
    if len(groups) == len(words):
        return list(words)
    place = {index: new for new, group in enumerate(groups) for index in group}
    depths = tree_depths(words)
    joined = []
    for new, group in enumerate(groups):
        top = _top(words, group, depths)
        word = words[top]
        if len(group) == 1:
            joined.append(word._replace(index=new, head=place[word.head]))
            continue
        text = "".join(words[index].text for index in group)
        head = place[word.head]
        pos, tag, dep = word.pos, word.tag, word.dep
        noun = words[word.head]
        if is_numeral(text):  # "twenty-one"
            pos, tag = "NUM", "CD"
            dep = "nummod" if head > new and noun.is_noun else dep
        elif head > new and dep in _BEFORE_A_NOUN and noun.is_noun and pos != "PROPN":
            pos, tag, dep = "ADJ", "JJ", "amod"
        joined.append(
            word._replace(
                index=new,
                text=text,
                pos=pos,
                tag=tag,
                dep=dep,
                head=head,
                start=words[group[0]].start,
                end=words[group[-1]].end,
            )
        )
    return joined


def _groups(words: Sequence[Word]) -> list[list[int]]:
    groups: list[list[int]] = []
    for index, word in enumerate(words):
        if groups and _joined(words, index):
            groups[-1].append(index)
        else:
            groups.append([word.index])
    return groups


def _joined(words: Sequence[Word], index: int) -> bool:
    """Whether a word continues the compound before it: piece, hyphen, piece without spaces."""
    word, before = words[index], words[index - 1]
    if word.start != before.end or word.sentence != before.sentence:
        return False
    if word.text == "-":
        follows = words[index + 1 : index + 2]
        return (
            before.text[-1].isalnum()
            and bool(follows)
            and follows[0].start == word.end
            and follows[0].text[0].isalnum()
        )
    return (
        before.text == "-"
        and index >= 2
        and words[index - 2].end == before.start
        and (word.text[0].isalnum() and words[index - 2].text[-1].isalnum())
    )


def _top(words: Sequence[Word], group: Sequence[int], depths: Sequence[int]) -> int:
    """The piece nearest to the root; of several the last one, for it names the kind.

    As every joined word then depends on a word nearer to the root, joining never makes a circle,
    also where a word between two pieces depends on one and governs the other.
    """
    return min(group, key=lambda at: (depths[at], words[at].text == "-", -at))
