"""The embedded corpus: made again byte for byte, nothing leaks, the Galician agrees, the gold is inside its sentences.

Grammar is checked from the surface, not by the code that wrote it: the determiners are listed here by hand.
"""

from __future__ import annotations

import importlib
import os
import random
import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise, product
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data" / "demo"
SIZES = {"train": 12_000, "dev": 500, "test": 500}
SIDES = ("en", "gl", "gold")
LINK = re.compile(r"(\d+)[-p](\d+)")

Corpus = dict[str, list[tuple[str, str, str]]]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """The rows (English, Galician, gold) of each part."""
    return {part: list(zip(*(_lines(FOLDER / f"{part}.{side}") for side in SIDES), strict=True)) for part in SIZES}


def _maker(name: str) -> ModuleType:
    """A module of the grammar, which is no part of the package."""
    scripts = str(ROOT / "scripts")
    if scripts not in sys.path:
        sys.path.insert(0, scripts)
    return importlib.import_module(f"demo_corpus.{name}")


def _bare(sentence: str) -> list[str]:
    return [word.rstrip(".,?") for word in sentence.lower().split()]


def _links(gold: str) -> list[tuple[int, int, bool]]:
    return [(int(m[1]), int(m[2]), "-" in m[0]) for m in map(LINK.fullmatch, gold.split()) if m]


def test_the_script_writes_these_very_bytes(tmp_path: Path) -> None:
    script = [sys.executable, ROOT / "scripts" / "make_demo_corpus.py", "--output", tmp_path]
    subprocess.run(script, check=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    for part, side in product(SIZES, SIDES):
        assert (tmp_path / f"{part}.{side}").read_bytes() == (FOLDER / f"{part}.{side}").read_bytes(), (part, side)


def test_counts_and_sizes(corpus: Corpus) -> None:
    files = [FOLDER / f"{part}.{side}" for part, side in product(SIZES, SIDES)]
    assert {part: len(rows) for part, rows in corpus.items()} == SIZES
    assert max(file.stat().st_size for file in files) < 900_000
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 4_000_000


def test_no_sentence_twice_on_either_side(corpus: Corpus) -> None:
    for side in (0, 1):
        counts = Counter(row[side] for rows in corpus.values() for row in rows)
        assert max(counts.values()) == 1


@pytest.mark.parametrize("part", sorted(SIZES))
def test_lengths_are_spread(corpus: Corpus, part: str) -> None:
    lengths = [len(en.split()) for en, _, _ in corpus[part]]
    assert min(lengths) == 3
    assert max(lengths) <= 30
    assert max(len(gl.split()) for _, gl, _ in corpus[part]) <= 30
    assert 10 < sum(lengths) / len(lengths) < 12
    assert sum(length >= 20 for length in lengths) / len(lengths) > 0.1


@pytest.mark.parametrize("side", [0, 1])
def test_every_word_of_dev_and_test_is_known(corpus: Corpus, side: int) -> None:
    """Words as they stand between spaces, capital and full stop included."""
    counts = Counter(word for row in corpus["train"] for word in row[side].split())
    for part in ("dev", "test"):
        assert min(counts[word] for row in corpus[part] for word in row[side].split()) >= 3
    assert len({word for row in corpus["train"] for word in _bare(row[side])}) < 2_500


def test_a_quarter_of_test_joins_words_that_train_never_joins(corpus: Corpus) -> None:
    split = _maker("split")
    assert not any(split.held_out_pairs(en) for en, _, _ in corpus["train"])
    assert not any(split.held_out_pairs(en) for en, _, _ in corpus["dev"])
    assert sum(bool(split.held_out_pairs(en)) for en, _, _ in corpus["test"]) == 125


def test_held_out_pairs_are_found_in_any_form() -> None:
    """A pair is found wherever its two words stand, inflected or not."""
    split = _maker("split")
    assert [split.LEMMAS[form] for form in ("buses", "bought", "bigger")] == [{"bus"}, {"buy"}, {"big"}]
    modifier, noun = min(split.HELD_OUT)
    assert (modifier, noun) in split.held_out_pairs(f"The {noun}, {modifier}.")
    assert (modifier, noun) not in split.held_out_pairs(f"The {noun}.")


def test_at_least_350_lemmas(corpus: Corpus) -> None:
    lemmas = _maker("split").LEMMAS
    words = {word for en, _, _ in corpus["train"] for word in _bare(en)}
    assert len({lemma for word in words for lemma in lemmas.get(word, ())}) >= 350


def test_surface(corpus: Corpus) -> None:
    """One space between words, a capital first, one final mark, commas joined to a word, no opening question mark."""
    shape = re.compile(r"[A-ZÁÉÍÓÚ][\w']*(,? [\w']+)*[.?]")
    for en, gl, _ in (row for rows in corpus.values() for row in rows):
        assert shape.fullmatch(en), en
        assert shape.fullmatch(gl), gl
        assert en[-1] == gl[-1]


def test_links_are_inside_their_sentences_and_unique(corpus: Corpus) -> None:
    for en, gl, gold in (row for rows in corpus.values() for row in rows):
        links = _links(gold)
        assert len(links) == len(gold.split()) == len({(s, t) for s, t, _ in links})
        assert all(s < len(en.split()) and t < len(gl.split()) for s, t, _ in links), gold


@pytest.mark.parametrize("part", sorted(SIZES))
def test_every_kind_of_link_occurs(corpus: Corpus, part: str) -> None:
    seen: Counter[str] = Counter()
    for en, gl, gold in corpus[part]:
        links = _links(gold)
        sources, targets = Counter(s for s, _, _ in links), Counter(t for _, t, _ in links)
        order = [t for _, t, _ in sorted(links)]
        seen["one to many"] += max(sources.values()) > 1
        seen["many to one"] += max(targets.values()) > 1
        seen["unaligned source"] += len(sources) < len(en.split())
        seen["unaligned target"] += len(targets) < len(gl.split())
        seen["possible"] += not all(sure for _, _, sure in links)
        seen["crossing"] += order != sorted(order)
    assert min(seen[kind] for kind in seen) > len(corpus[part]) / 20, seen
    assert len(seen) == 6


def test_a_contraction_is_linked_to_all_that_it_contains() -> None:
    """`roof of the` and `tellado do`."""
    bitext = _maker("bitext")
    text = bitext.linked(bitext.Dice(random.Random(1)), "roof of the", "tellado de o", "0-0 1-1 2-2")
    gl = bitext.contracted(text.gl)
    assert [word.text for word in gl] == ["tellado", "do"]
    assert bitext.links(text.en, gl) == [(0, 0, True), (1, 1, True), (2, 1, True)]


def test_the_pairs_of_the_readme_are_in_train(corpus: Corpus) -> None:
    """They show the convention, so they must be what the files hold."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| ([A-Z].*[.?]) \| (.*) \| (.*) \|$", text, flags=re.MULTILINE)
    assert len(shown) == 10
    assert set(shown) <= set(corpus["train"])


# Forms written out by hand: (masculine, feminine) singular, then plural.
SINGULAR = """o/a do/da no/na ao/á polo/pola co/coa un/unha dun/dunha nun/nunha cun/cunha este/esta deste/desta
neste/nesta ese/esa dese/desa nese/nesa outro/outra doutro/doutra noutro/noutra meu/miña seu/súa noso/nosa teu/túa"""
PLURAL = """os/as dos/das nos/nas aos/ás polos/polas cos/coas estes/estas destes/destas eses/esas deses/desas meus/miñas
seus/súas nosos/nosas teus/túas algúns/algunhas moitos/moitas dous/dúas cantos/cantas"""
DETERMINERS = {
    form: ("mf"[place], plural)
    for table, plural in ((SINGULAR, False), (PLURAL, True))
    for pair in table.split()
    for place, form in enumerate(pair.split("/"))
}


CLITICS = ("o", "a", "os", "as", "lle", "lles", "me", "nos", "se")


def _noun_forms() -> dict[str, set[tuple[str, bool]]]:
    forms: dict[str, set[tuple[str, bool]]] = {}
    for noun in _maker("nouns").NOUNS:
        forms.setdefault(noun.gl, set()).add((noun.gender, False))
        if noun.countable:
            forms.setdefault(noun.gl_plural, set()).add((noun.gender, True))
    return forms


def _adjective_forms() -> dict[str, set[tuple[str, bool]]]:
    """Adjectives and participles, without what may also be a verb (`limpa`) or a noun."""
    adjectives, conjugation, verbs = _maker("adjectives"), _maker("conjugation"), _maker("verbs")
    infinitives = {verb.gl.removesuffix("se") for verb in verbs.VERBS}
    finite = {form for verb in infinitives for form in conjugation.forms(verb, "present")}
    participles = {conjugation.participle(verb.gl) for verb in verbs.VERBS if "passive" in verb.flags}
    all_forms = [adjective.forms for adjective in adjectives.ADJECTIVES]
    all_forms += [(p, p[:-1] + "a", p + "s", p[:-1] + "as") for p in participles]
    found: dict[str, set[tuple[str, bool]]] = {}
    for forms in all_forms:
        for form, features in zip(forms, product((False, True), "mf"), strict=True):
            found.setdefault(form, set()).add((features[1], features[0]))
    return {form: features for form, features in found.items() if form not in finite}


def test_determiners_agree_with_their_nouns(corpus: Corpus) -> None:
    nouns, checked = _noun_forms(), 0
    for _, gl, _ in (row for rows in corpus.values() for row in rows):
        words = gl.split()
        for before, word in pairwise(words):
            noun = nouns.get(word.rstrip(".,?"))
            if noun and before.lower() in DETERMINERS:
                assert DETERMINERS[before.lower()] in noun, (before, word, gl)
                checked += 1
    assert checked > 20_000


def test_adjectives_agree_with_the_nouns_before_them(corpus: Corpus) -> None:
    nouns, adjectives, checked = _noun_forms(), _adjective_forms(), 0
    for _, gl, _ in (row for rows in corpus.values() for row in rows):
        words = gl.split()
        for before, word in pairwise(words):
            adjective = adjectives.get(word.rstrip(".,?"))
            if adjective and before in nouns:
                assert nouns[before] & adjective, (before, word, gl)
                checked += 1
    assert checked > 3_000


def test_what_is_said_of_a_subject_agrees_with_it(corpus: Corpus) -> None:
    """`As cartas foron escritas`: sentences of determiner, noun, `ser` or `estar`, and adjective or participle."""
    nouns, adjectives, checked = _noun_forms(), _adjective_forms(), 0
    be = {"é", "era", "será", "foi", "está", "estaba", "son", "eran", "serán", "foron", "están", "estaban"}
    for _, gl, _ in (row for rows in corpus.values() for row in rows):
        words = [word for word in gl.split()[:6] if word not in {"moi", "non"}]
        if len(words) > 3 and words[1] in nouns and words[2] in be and words[3].rstrip(".,?") in adjectives:
            assert nouns[words[1]] & adjectives[words[3].rstrip(".,?")], gl
            checked += 1
    assert checked > 150


def test_contractions_are_made(corpus: Corpus) -> None:
    """No preposition is left before an article that it must swallow."""
    apart = re.compile(
        r"\b((de|en|con) (o|a|os|as|un|unha)|(por|a) (o|a|os|as)|(de|en) (este|esta|ese|esa|outr[oa])s?)\b"
    )
    for _, gl, _ in (row for rows in corpus.values() for row in rows):
        assert not apart.search(gl.lower()), gl


def test_clitics_go_before_the_verb_after_negation_and_subordinators(corpus: Corpus) -> None:
    """`Non o viu`, `porque a viu`, and never `non viuno`."""
    spelling, conjugation, verbs = _maker("spelling"), _maker("conjugation"), _maker("verbs")
    finite, enclitic = set(), set()
    for verb in verbs.VERBS:
        infinitive = verb.gl.removesuffix("se")
        forms = {form for tense in ("present", "past", "future") for form in conjugation.forms(infinitive, tense)}
        finite |= forms
        # `ten que velo`: an infinitive keeps its clitic behind it wherever it stands.
        finite |= {spelling.joined(infinitive, c) for c in CLITICS}
        enclitic |= {spelling.joined(form, c) for form in forms for c in CLITICS}
    trigger = re.compile(r"\b(?:non|nunca|tamén|xa|porque|mentres|cando|que|onde|ninguén|quen) (\w+)")
    for _, gl, _ in (row for rows in corpus.values() for row in rows):
        assert not {word for word in trigger.findall(gl.lower()) if word in enclitic - finite}, gl
    everything = {word for _, gl, _ in corpus["train"] for word in _bare(gl)}
    assert len(everything & (enclitic - finite)) > 100


@pytest.mark.parametrize(
    ("verb", "clitic", "whole"),
    [
        ("viu", "o", "viuno"), ("vin", "o", "vino"), ("comprou", "a", "comprouna"), ("come", "o", "cómeo"),
        ("comen", "o", "cómeno"), ("comemos", "a", "comémola"), ("ver", "os", "velos"), ("levará", "o", "levarao"),
        ("oíu", "a", "oíuna"), ("construír", "o", "construílo"), ("dá", "lle", "dálle"), ("trouxo", "o", "tróuxoo"),
        ("trouxo", "lle", "tróuxolle"), ("colleron", "as", "colléronas"), ("segue", "o", "ségueo"),
        ("vendeu", "os", "vendeunos"), ("gusta", "me", "gústame"), ("erguerá", "se", "erguerase"),
    ],
)  # fmt: skip
def test_enclitics_are_spelled_as_by_the_norm(verb: str, clitic: str, whole: str) -> None:
    assert _maker("spelling").joined(verb, clitic) == whole


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("can", "cans"), ("irmá", "irmás"), ("animal", "animais"), ("hotel", "hoteis"), ("azul", "azuis"),
        ("sol", "soles"), ("luz", "luces"), ("rapaz", "rapaces"), ("flor", "flores"), ("francés", "franceses"),
        ("autobús", "autobuses"), ("país", "países"), ("mes", "meses"), ("rei", "reis"), ("estación", "estacións"),
    ],
)  # fmt: skip
def test_plurals_are_spelled_as_by_the_norm(singular: str, plural: str) -> None:
    assert _maker("spelling").plural(singular) == plural


def test_one_english_lemma_and_noun_have_one_translation() -> None:
    """The lexicon leaves no choice: what `play` or `old` means is settled by the noun."""
    predicates, phrases, nouns = _maker("predicates"), _maker("phrases"), _maker("nouns")
    for verb, things in predicates.OBJECTS.items():
        for other, more in predicates.OBJECTS.items():
            same = (verb.en, verb.particle) == (other.en, other.particle) and verb.gl != other.gl
            assert not (same and set(things) & set(more)), (verb, other)
    for noun in nouns.NOUNS:
        fitting = phrases.FITTING[noun.en]
        assert len({a.en for a in fitting}) == len(fitting), noun


@pytest.mark.parametrize(
    ("english", "one", "other"),
    [
        ("know", "coñece", "sabe"), ("play", "toca", "xoga"), ("old", "vella", "antiga"), ("short", "baixa", "curta"),
        ("hard", "duro", "difícil"), ("light", "luz", "lixeira"), ("take", "colleu", "tomou"),
        ("leave", "deixou", "saíu"),
        ("bank", "banco", "beira"), ("ask", "preguntou", "pediu"), ("corner", "esquina", "recuncho"),
        ("save", "salvou", "aforrou"), ("spend", "gastou", "pasou"), ("return", "volveu", "devolveu"),
        ("work", "traballa", "funciona"), ("letter", "carta", "letra"), ("glass", "vaso", "copa"),
        ("quiet", "calada", "tranquila"), ("tell", "contou", "dixo"), ("grow", "medra", "cultivou"),
    ],
)  # fmt: skip
def test_words_whose_translation_depends_on_the_context(corpus: Corpus, english: str, one: str, other: str) -> None:
    """Both translations occur in sentences that have the English word."""
    lemmas = _maker("split").LEMMAS
    heard = {form for form, of in lemmas.items() if english in of} | {english, english + "ed"}
    both = Counter(
        word for en, gl, _ in corpus["train"] if heard & set(_bare(en)) for word in {one, other} & set(_bare(gl))
    )
    assert min(both[one], both[other]) >= 3, both
