"""Each format's way of showing text that nobody vouches for.

Names of files and tests, messages and inputs are a student's own words. Here they become text that
a reader sees and that no program obeys: one function a format.
"""

import re
import unicodedata
from html import escape as escape_html
from json import dumps
from xml.sax.saxutils import escape as escape_xml

LONGEST = 600
# Printable by their category, and yet nothing is seen of them.
BLANKS = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
MOST_MARKS = 4  # on one letter: more of them cover the lines above and below
# What runners of jobs take for a command in their log: at the beginning of a line, or anywhere.
COMMAND = re.compile(r"(?:^|(?<=\s)):{2,}|#{2,}(?=\w*\[)")
# What a spreadsheet takes for the beginning of a formula, in letters of either width.
FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
TICKS = re.compile("`+")


def visible(text: str, kept: str = "") -> str:
    """Return ``text`` with all that isn't seen written out, but for the characters in ``kept``.

    Control characters, escapes, what reverses the order of letters, what has no width, half a pair
    of surrogates, separators of lines.
    """
    if text.isascii() and text.isprintable():
        return text
    shown, marks = [], 0
    for char in text:
        marks = marks + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        is_seen = char.isprintable() and char not in BLANKS and marks <= MOST_MARKS
        written = char if is_seen or char in kept else char.encode("unicode_escape").decode()
        shown.append(written)
    return "".join(shown)


def terminal(text: str) -> str:
    """Return ``text`` as a part of one line, for a terminal or the log of a job."""
    return uncommanded(visible(_one_line(text)))


def uncommanded(line: str) -> str:
    """Return ``line`` with what a runner of jobs would take for a command spaced out."""
    return COMMAND.sub(lambda found: " ".join(found[0]), line)


def csv(text: str) -> str:
    """Return ``text`` as the content of a cell; quotes and commas are left to the csv module."""
    shown = uncommanded(visible(text))
    return f"'{shown}" if shown.lstrip().startswith(FORMULA) else shown


def json(content: object) -> str:
    """Return ``content`` as JSON, in ASCII alone, that may be printed in the log of a job."""
    return dumps(content, indent=1, ensure_ascii=True).replace("##", "#\\u0023")


def html(text: str) -> str:
    """Return ``text`` as HTML, for an element's content or the value of a quoted attribute.

    Scripts, styles and addresses have rules of their own, and are no place for it.
    """
    return escape_html(visible(text, "\n"))


def xml(text: str) -> str:
    """Return ``text`` as XML, for an element's content or the value of a quoted attribute."""
    return escape_xml(visible(text, "\n"), {'"': "&quot;", "'": "&apos;", "\n": "&#10;"})


def markdown(text: str) -> str:
    """Return ``text`` as Markdown: code, since there nothing is a link, a mention or a formula.

    A bar would end a table's cell, however it is escaped in one dialect or another.
    """
    shown = visible(_one_line(text)).replace("|", "\\x7c").strip()
    if not shown:
        return ""
    fence = "`" * (1 + max(map(len, TICKS.findall(shown)), default=0))
    space = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{fence}{space}{shown}{space}{fence}"


def github_message(text: str) -> str:
    """Return ``text`` as the message of a workflow command."""
    return visible(text, "\n").replace("%", "%25").replace("\n", "%0A")


def github_property(text: str) -> str:
    """Return ``text`` as the value of a workflow command's property."""
    return github_message(text).replace(":", "%3A").replace(",", "%2C")


def _one_line(text: str) -> str:
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}…"
    return text.replace("\n", " ")
