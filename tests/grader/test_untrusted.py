"""Hostile text in each format, as the parsers of that format read it."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console
from rich.text import Text

from grader import untrusted

CLASSICS = [
    *("\x1b[2J\x1b[31mred", "\x1b]0;title\x07", "\x1b]8;;http://evil\x1b\\link", "\x9b2J", "\x90q"),
    *(
        "\u202eevil\u2066x\u2069",
        "a\u200bb\ufeffc\u2060",
        "\udcff\ud800",
        "a\r\nb\x0bc\x85d\u2028e",
    ),
    *("=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", " =1", "\uff1d1"),
    *("<script>alert(1)</script>", "</td><img src=x onerror=alert(1)>", "\" onload='x", "&lt;&#0;"),
    *("]]><!-- --><![CDATA[", "<!DOCTYPE x [<!ENTITY a 'b'>]>", "\x00\x08\ufffe\uffff"),
    *("[x](javascript:alert(1))", "![x](http://evil)", "http://evil www.evil.org a@b.org", "a | b"),
    *(
        "`",
        "``a`",
        "\\`",
        "```\nx\n```",
        "    code",
        "# head",
        "- item",
        "1. one",
        "> q",
        "---",
        "$x$",
    ),
    *(
        "<b>x</b>",
        "&amp;",
        "\\|",
        "*a* _b_ ~~c~~",
        "@somebody #1",
        "a\\",
        "[x]: http://evil",
        " ` ",
    ),
    *("::error::x", "  ::set-output name=a::b", "a\n::add-mask::b", "##[error]x", "x##vso[task]y"),
    *("##teamcity[x]", "::stop-commands::x", "\x1b[0Ksection_start:0:x\r\x1b[0K", "::::", "###[x]"),
    *("[red]x[/red]", ":smile:", "{}", "%s%n", "$(id)`id`", "x" * 10_000, "e" + "\u0301" * 500, ""),
]
HOSTILE = st.one_of(
    st.sampled_from(CLASSICS),
    st.lists(
        st.sampled_from([*"<>&\"'`|\\[]()!#*_=+-@:%,;$~ \n\r\t\x1b\u202e\u200b\udcff", "::", "a"])
    ).map("".join),
    st.text(st.characters(exclude_categories=())),
)
FRAMES = ["{}", "- {}", "> {}", "# {}", "before {} after"]
TAGS = re.compile(r"[\x1b\x9b\x07\r\n\u202a-\u202e\u2066-\u2069\u200b-\u200f\ud800-\udfff]")


@given(HOSTILE)
@example("\u115f\u3164\u2800\ufe0f")
def test_what_is_visible_is_seen_whole(text: str) -> None:
    """Every letter is printable, none is lost, and any encoding of Unicode can hold it."""
    shown = untrusted.visible(text)
    assert shown.isprintable()
    assert not untrusted.BLANKS & set(shown)
    shown.encode("utf-8")
    assert untrusted.visible(shown) == shown
    if text.isascii() and text.isprintable():
        assert shown == text


@given(HOSTILE)
def test_a_terminal_is_told_nothing_but_letters(text: str) -> None:
    """In one line, of a length that fits a screen, and rich takes none of it for markup."""
    shown = untrusted.terminal(text)
    assert not TAGS.search(shown)
    assert len(shown) <= 12 * untrusted.LONGEST
    console = Console(file=io.StringIO(), width=100_000, force_terminal=True, emoji=False)
    console.print(Text(shown), end="")
    assert console.file.getvalue() == shown  # type: ignore[attr-defined] # made above


@given(HOSTILE)
def test_no_line_of_a_log_is_a_command(text: str) -> None:
    """As the runners of GitHub, Azure and TeamCity look for one; and GitLab's begins with ESC."""
    shown = untrusted.terminal(text)
    assert not shown.lstrip().startswith("::")
    assert not re.search(r"##\w*\[", shown)
    assert "\x1b" not in shown


@pytest.mark.parametrize("text", ["test_a.py::TestX::test_y[a::b]", "x[::-1]", "a ## b", "#[x]"])
def test_what_is_no_command_stays_as_it_is(text: str) -> None:
    """Ids of tests and slices among it."""
    assert untrusted.terminal(text) == text


@given(HOSTILE)
def test_a_cell_is_one_and_no_formula(text: str) -> None:
    """In a table that the csv module writes and reads."""
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerow([untrusted.csv(text), "next"])
    assert table.getvalue().count("\n") == 1
    [[cell, after]] = csv.reader(io.StringIO(table.getvalue(), newline=""))
    assert after == "next"
    assert not cell.lstrip().startswith(untrusted.FORMULA)
    expected = untrusted.uncommanded(untrusted.visible(text))
    assert cell in {expected, f"'{expected}"}


class _Seen(HTMLParser):
    """Notes what a page holds."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""
        self.others: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def handle_decl(self, decl: str) -> None:
        self.others.append(decl)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)

    def handle_pi(self, data: str) -> None:
        self.others.append(data)


@given(HOSTILE)
def test_html_holds_it_as_text_and_as_an_attribute(text: str) -> None:
    """And no element, attribute, comment or declaration more."""
    shown = untrusted.html(text)
    seen = _Seen(f"<p title=\"{shown}\" lang='{shown}'>{shown}</p>")
    expected = untrusted.visible(text, "\n")
    assert seen.tags == [("p", [("title", expected), ("lang", expected)])]
    assert seen.text == expected
    assert seen.others == []


@given(HOSTILE)
def test_xml_holds_it_as_text_and_as_an_attribute(text: str) -> None:
    """Lines too, which an attribute would otherwise lose."""
    shown = untrusted.xml(text)
    page = ET.fromstring(f"<a b=\"{shown}\" c='{shown}'>{shown}</a>")  # noqa: S314 — written here
    expected = untrusted.visible(text, "\n")
    assert (page.get("b"), page.get("c"), page.text or "", len(page)) == (
        expected,
        expected,
        expected,
        0,
    )


@pytest.mark.parametrize(
    ("dialect", "frame"),
    [
        *(("commonmark", frame) for frame in FRAMES),
        *(("gfm-like", frame) for frame in (*FRAMES, "| a | b |\n|---|---|\n| {} | c |")),
    ],
)
@given(HOSTILE)
def test_markdown_holds_it_as_code(dialect: str, frame: str, text: str) -> None:
    """Wherever it stands: no link, no image, no element, no cell and no heading of its own."""
    parser = MarkdownIt(dialect, {"linkify": True})
    shown = untrusted.markdown(text)
    page, plain = parser.parse(frame.format(shown or "`x`")), parser.parse(frame.format("`x`"))
    assert [token.type for token in page] == [token.type for token in plain]
    inline = [token for block in page for token in block.children or ()]
    assert {token.type for token in inline} <= {"code_inline", "text"}
    cut = text if len(text) <= untrusted.LONGEST else f"{text[: untrusted.LONGEST]}…"
    expected = untrusted.visible(cut.replace("\n", " ")).replace("|", "\\x7c").strip()
    code = [token.content for token in inline if token.type == "code_inline"]
    assert code == [expected or "x"]
    assert bool(shown) == bool(expected)


@given(HOSTILE, HOSTILE)
def test_a_workflow_command_carries_it_and_stays_one(message: str, title: str) -> None:
    """As GitHub's runner reads it: at the first pair of colons the properties end."""
    title_shown, shown = untrusted.github_property(title), untrusted.github_message(message)
    line = f"::error title={title_shown},line=1::{shown}"
    assert line.isprintable()
    properties, _, data = line.removeprefix("::error ").partition("::")
    values = dict(one.split("=", 1) for one in properties.split(","))
    assert _unescaped(values["title"], {"%3A": ":", "%2C": ","}) == untrusted.visible(title, "\n")
    assert values.keys() == {"title", "line"}
    assert _unescaped(data, {}) == untrusted.visible(message, "\n")


def _unescaped(text: str, more: dict[str, str]) -> str:
    for written, meant in {"%0D": "\r", "%0A": "\n", **more, "%25": "%"}.items():
        text = text.replace(written, meant)
    return text


@given(HOSTILE)
def test_json_holds_it_in_ascii(text: str) -> None:
    """As the document is written, whatever is in a text; half a pair of surrogates as well."""
    shown = untrusted.json([text])
    assert shown.isascii()
    assert not re.search(r"##\w*\[", shown)
    assert json.loads(shown) == [text]
