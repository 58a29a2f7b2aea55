"""Translation memories: the two languages' segments of each unit, without other programs' markup."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmt.data.corpora.tmx import Tmx
from nmt.errors import UserError


def tmx(
    path: Path, body: str, head: str = "", languages: tuple[str, str] = ("en", "de"), encoding: str = "utf-8"
) -> Tmx:
    declared = f'<?xml version="1.0" encoding="{encoding}"?>\n{head}'
    document = f'{declared}<tmx version="1.4"><header srclang="en"><note>ka</note></header><body>{body}</body></tmx>'
    path.write_bytes(document.encode(encoding))
    return Tmx(source_language=languages[0], target_language=languages[1], path=str(path))


def unit(**segments: str) -> str:
    variants = [f'<tuv xml:lang="{code.replace("_", "-")}"><seg>{text}</seg></tuv>' for code, text in segments.items()]
    return f"<tu>\n<prop>p</prop>{''.join(variants)}\n</tu>\n"


def test_units_in_order_whatever_the_order_of_languages(tmp_path: Path) -> None:
    body = unit(en="ka", de="AK") + unit(de="", fr="x", en=" lo &amp; mi ")
    corpus = tmx(tmp_path / "a.tmx", body)
    assert list(corpus.pairs()) == [("ka", "AK"), (" lo & mi ", "")]
    assert (corpus.count(), list(corpus.pairs(1))) == (2, [(" lo & mi ", "")])


@pytest.mark.parametrize("code", ["en", "EN", "en_US", "EN_gb"])
def test_languages_match_by_code_and_by_its_beginning(tmp_path: Path, code: str) -> None:
    corpus = tmx(tmp_path / "a.tmx", unit(**{"eng": "no", code: "ka", "de": "AK"}))
    assert list(corpus.pairs()) == [("ka", "AK")]


def test_the_exact_language_comes_first_and_other_countries_never(tmp_path: Path) -> None:
    body = unit(en_GB="colour", en_US="color", de="Farbe") + unit(en="lift", de="Aufzug") + unit(en_GB="x", de="X")
    corpus = tmx(tmp_path / "a.tmx", body, languages=("en_us", "de"))
    assert list(corpus.pairs()) == [("color", "Farbe"), ("lift", "Aufzug")]


def test_the_attribute_of_older_versions(tmp_path: Path) -> None:
    corpus = tmx(tmp_path / "a.tmx", unit(en="ka", de="AK").replace("xml:lang", "lang"))
    assert list(corpus.pairs()) == [("ka", "AK")]


def test_codes_are_no_text_and_highlights_are(tmp_path: Path) -> None:
    text = 'a <bpt i="1">&lt;b&gt;<sub>x</sub></bpt>b<ept i="1">&lt;/b&gt;</ept> <ph>{0}</ph><it>i</it>'
    text += "<hi>c <hi>d</hi></hi>!"
    assert list(tmx(tmp_path / "a.tmx", unit(en=text, de="A")).pairs()) == [("a b c d!", "A")]


def test_line_breaks_become_spaces(tmp_path: Path) -> None:
    """A04, A05: those of Windows too; other separators are text."""
    assert list(tmx(tmp_path / "a.tmx", unit(en="ka\nlo\r\nmi\n", de="A\u2028B\x85C")).pairs()) == [
        ("ka lo mi", "A\u2028B\x85C")
    ]


def test_texts_that_look_like_something_else(tmp_path: Path) -> None:
    """A10."""
    rows = [("null", "zero"), ("NA", "sodium"), ("007", "agent"), ("1e3", "x"), ("true", "2020-01-01")]
    body = "".join(unit(en=source, de=target) for source, target in rows)
    assert list(tmx(tmp_path / "a.tmx", body).pairs()) == rows


def test_units_without_both_languages_are_passed_over(tmp_path: Path) -> None:
    body = unit(en="ka", fr="x") + unit(de="y") + unit(en="lo", de="OL")
    corpus = tmx(tmp_path / "a.tmx", body)
    assert (list(corpus.pairs()), corpus.count()) == ([("lo", "OL")], 1)


def test_a_language_that_no_unit_has_names_those_there_are(tmp_path: Path) -> None:
    """A11: at once."""
    with pytest.raises(UserError, match=r"a\.tmx: no unit has both 'en' and 'no'; it has: en, fr, de"):
        tmx(tmp_path / "a.tmx", unit(en="a", fr="b") + unit(de="c"), languages=("en", "no")).pairs()
    nameless = "<tu><tuv><seg>a</seg></tuv></tu>"
    with pytest.raises(UserError, match=r"it has: no xml:lang$"):
        tmx(tmp_path / "b.tmx", nameless, languages=("en", "no")).pairs()


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("<tu>\n<tuv>\n</tu>", "line 4: damaged XML \\(mismatched tag\\)"),
        ("\n\n&nbsp;", "line 4: damaged XML \\(undefined entity\\)"),
        ("<seg>\x01</seg>", "line 2: damaged XML \\(not well-formed"),
    ],
)
def test_damaged_xml_is_told_with_its_line(tmp_path: Path, body: str, complaint: str) -> None:
    with pytest.raises(UserError, match=rf"a\.tmx, {complaint}"):
        list(tmx(tmp_path / "a.tmx", unit(en="a", de="b").replace("\n", "") + body).pairs())


def test_an_end_that_is_missing_and_what_is_no_tmx(tmp_path: Path) -> None:
    corpus = tmx(tmp_path / "a.tmx", unit(en="a", de="b"))
    whole = (tmp_path / "a.tmx").read_bytes()
    (tmp_path / "a.tmx").write_bytes(whole[:-3])
    with pytest.raises(UserError, match=r"a\.tmx, line 5: damaged XML"):
        list(corpus.pairs())
    (tmp_path / "a.tmx").write_bytes(b"\n<xliff><tu/></xliff>")
    with pytest.raises(UserError, match=r"a\.tmx, line 2: this is no TMX, .* but <xliff>"):
        corpus.pairs()


def test_invalid_utf8_names_file_and_line(tmp_path: Path) -> None:
    """A08."""
    corpus = tmx(tmp_path / "a.tmx", "\n" + unit(en="cafX", de="b"))
    (tmp_path / "a.tmx").write_bytes((tmp_path / "a.tmx").read_bytes().replace(b"cafX", b"caf\xe9"))
    with pytest.raises(UserError, match=r"a\.tmx, line 4: damaged XML"):
        list(corpus.pairs())


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "utf-8-sig"])
def test_the_document_says_its_encoding(tmp_path: Path, encoding: str) -> None:
    corpus = tmx(tmp_path / "a.tmx", unit(en="café", de="Straße"), encoding=encoding)
    if encoding == "utf-8-sig":
        (tmp_path / "a.tmx").write_bytes((tmp_path / "a.tmx").read_bytes().replace(b"utf-8-sig", b"utf-8"))
    assert list(corpus.pairs()) == [("café", "Straße")]


def test_an_encoding_that_cannot_be_read(tmp_path: Path) -> None:
    for name in ("big5", "klingon"):
        corpus = tmx(tmp_path / "a.tmx", unit(en="ka", de="AK"))
        (tmp_path / "a.tmx").write_bytes((tmp_path / "a.tmx").read_bytes().replace(b"utf-8", name.encode()))
        with pytest.raises(UserError, match=r"a\.tmx.*encoding"):
            corpus.pairs()


def test_entities_cannot_fill_the_memory(tmp_path: Path) -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    head = f'<!DOCTYPE tmx [\n<!ENTITY l0 "lol">{laughs}]>\n'
    with pytest.raises(UserError, match=r"a\.tmx, line 3: the document declares the entity 'l0'"):
        tmx(tmp_path / "a.tmx", unit(en="&l9;", de="b"), head).pairs()
    head = f'<!DOCTYPE tmx [<!ENTITY secret SYSTEM "file://{tmp_path}/a.tmx">]>'
    with pytest.raises(UserError, match=r"declares the entity 'secret'"):
        tmx(tmp_path / "a.tmx", unit(en="&secret;", de="b"), head).pairs()


def test_a_document_type_is_not_fetched_and_its_entities_do_not_vanish(tmp_path: Path) -> None:
    head = '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'
    assert list(tmx(tmp_path / "a.tmx", unit(en="ka", de="b"), head).pairs()) == [("ka", "b")]
    with pytest.raises(UserError, match=r"a\.tmx, line 4: the entity 'nbsp' is declared nowhere"):
        tmx(tmp_path / "a.tmx", unit(en="ka&nbsp;lo", de="b"), head).pairs()
