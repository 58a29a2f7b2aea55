"""Noun phrases: determiner, adjectives, noun, and what hangs on them, agreeing in gender and number."""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import adjectives as adjectives_module
from . import english, nouns
from .adjectives import ADJECTIVES, Adjective
from .bitext import Bitext, Dice, Relations, Words, linked, related, words
from .nouns import Noun


@dataclass(frozen=True)
class Phrase:
    """A noun phrase or pronoun with what agrees with it; `noun` is None for pronouns and names."""

    text: Bitext
    person: int
    plural: bool
    gender: str
    noun: Noun | None = None
    head: frozenset[int] = frozenset()
    kinds: frozenset[str] = frozenset()
    gender_known: bool = True

    @property
    def names(self) -> frozenset[str]:
        """The kinds and the noun by which verbs choose."""
        return self.kinds | {self.noun.en} if self.noun else self.kinds

    @property
    def gl_person(self) -> int:
        return self.person + 3 * self.plural

    @property
    def third_singular(self) -> bool:
        return self.person == 3 and not self.plural


DEMONSTRATIVES = {"this": "este esta", "these": "estes estas", "that": "ese esa", "those": "eses esas"}
ARTICLES = ("o", "a", "os", "as")
INDEFINITE = ("un", "unha", "uns", "unhas")
POSSESSIVES = {
    "my": ("meu", "miña", "meus", "miñas"),
    "your": ("teu", "túa", "teus", "túas"),
    "his": ("seu", "súa", "seus", "súas"),
    "her": ("seu", "súa", "seus", "súas"),
    "their": ("seu", "súa", "seus", "súas"),
    "our": ("noso", "nosa", "nosos", "nosas"),
}
NUMERALS = {
    "two": ("dous", "dúas"), "three": ("tres", "tres"), "four": ("catro", "catro"), "five": ("cinco", "cinco"),
    "six": ("seis", "seis"), "ten": ("dez", "dez"),
}  # fmt: skip
QUANTIFIERS = {"some": ("algúns", "algunhas"), "many": ("moitos", "moitas")}

# Pronouns as dropped subjects: English word, person, plural, gender (a guess where English does not tell).
PRONOUNS = {
    "he": (3, False, "m"), "she": (3, False, "f"), "they": (3, True, "m"), "I": (1, False, "m"), "we": (1, True, "m"),
}  # fmt: skip


def agreeing(forms: tuple[str, ...], gender: str, plural: bool) -> str:
    return forms[(gender == "f") + 2 * plural]


PREPOSITIONS = {
    "in": ("en", ""), "on": ("en", ""), "at": ("en", ""), "to": ("a", ""), "from": ("de", ""), "of": ("de", ""),
    "with": ("con", ""), "by": ("por", ""), "for": ("para", ""),
    "under": ("debaixo de", ""), "behind": ("detrás de", ""), "near": ("preto de", ""),
    "inside": ("dentro de", ""), "in front of": ("diante de", "0-0 1-0 2-1"),
    "next to": ("ao lado de", "0-0 0-1 1-2"),
}  # fmt: skip


def preposition(dice: Dice, en: str) -> Bitext:
    """An English preposition and its Galician words."""
    return linked(dice, en, *PREPOSITIONS[en])


def pronoun(en: str) -> Phrase:
    """A subject pronoun: Galician drops it, so it stays unaligned."""
    person, plural, gender = PRONOUNS[en]
    return Phrase(
        Bitext(words(en)), person, plural, gender, kinds=frozenset({"person"}), gender_known=en in {"he", "she"}
    )


def name(dice: Dice, gender: str = "mf") -> Phrase:
    chosen = dice.pick([n for n, g in nouns.NAMES.items() if g in gender])
    number = dice.number()
    text = Bitext(words(chosen, sure=number), words(chosen, sure=number))
    return Phrase(
        text, 3, False, nouns.NAMES[chosen], head=number, kinds=frozenset({"person", "adult", "young", "name"})
    )


def both(dice: Dice, first: Phrase, second: Phrase) -> Phrase:
    """`María and Antón`: plural, masculine unless both are feminine."""
    text = first.text + linked(dice, "and", "e") + second.text
    gender = "f" if first.gender == second.gender == "f" else "m"
    return Phrase(text, 3, True, gender, head=first.head | second.head, kinds=first.kinds & second.kinds - {"name"})


def fits(adjective: Adjective, noun: Noun) -> bool:
    return noun.en in adjective.kinds or bool(noun.kinds & adjective.kinds)


FITTING = {noun.en: tuple(a for a in ADJECTIVES if fits(a, noun)) for noun in nouns.NOUNS}


def adjective_text(dice: Dice, adjective: Adjective, gender: str, plural: bool, very: bool) -> Bitext:
    """`very old` = `moi vella`."""
    text = linked(dice, adjective.en, adjective.form(gender, plural))
    if very:
        text = linked(dice, "very", "moi") + text
    return text


def _adjectives(dice: Dice, noun: Noun, plural: bool, determiner: str, wanted: int) -> tuple[Bitext, Bitext, Bitext]:
    """(English, Galician before the noun, Galician after it); the links are shared between them."""
    options = [a for a in FITTING.get(noun.en, ()) if "the" not in a.flags or determiner == "the"]
    if not options or not wanted:
        return Bitext(), Bitext(), Bitext()
    first = dice.pick(options)
    if first.en in {"first", "last"} and determiner != "the":
        return Bitext(), Bitext(), Bitext()
    plain = not first.flags & {"before", "attributive"}
    text = adjective_text(dice, first, noun.gender, plural, first.by_degrees and dice.chance(0.12))
    text = replace(text, relations=related(first.en, noun.en))
    if plain and wanted > 1:
        others = [
            a for a in options if not a.flags & {"before", "attributive"} and adjectives_module.joinable(first, a)
        ]
        if others:
            second = dice.pick(others)
            more = adjective_text(dice, second, noun.gender, plural, False)
            text = text + linked(dice, "and", "e") + replace(more, relations=related(second.en, noun.en))
    if "before" in first.flags:
        return text, text, Bitext()
    return text, Bitext(), text


NOTHING: Relations = frozenset()


@dataclass(frozen=True)
class Determiner:
    """The words of both sides before the noun, and the Galician ones that come after it."""

    en: Words
    gl: Words
    relations: Relations
    gl_after: Words = ()


def _possessive(dice: Dice, owner: str, noun: Noun, plural: bool) -> Determiner:
    number = dice.number()
    own = words(agreeing(POSSESSIVES[owner], noun.gender, plural), sure=number)
    # `meu pai`, but `o meu can` and `os meus irmáns`.
    article = () if "kin" in noun.kinds and not plural else words(agreeing(ARTICLES, noun.gender, plural))
    return Determiner(words(owner, sure=number), article + own, NOTHING)


def _genitive(dice: Dice, noun: Noun, plural: bool) -> Determiner:
    """`the boy's dog` = `o can do rapaz`: `boy's` is both `de` and `rapaz`."""
    article = words(agreeing(ARTICLES, noun.gender, plural))
    possessor = name(dice) if dice.chance(0.5) else bare_noun_phrase(dice, dice.pick(nouns.of_kinds("person")), "the")
    of = dice.number()
    *before, last = possessor.text.en
    en = (*before, replace(last, text=last.text + "'s", sure=last.sure | of))
    return Determiner(en, article, possessor.text.relations, words("de", sure=of) + possessor.text.gl)


def bare_noun_phrase(dice: Dice, noun: Noun, kind: str) -> Phrase:
    return noun_phrase(dice, noun, kind=kind, plural=False, adjectives=0)


def determiner(dice: Dice, kind: str, noun: Noun, plural: bool) -> Determiner:
    gender, number = noun.gender, dice.number()
    if kind == "the":
        return Determiner(words("the", sure=number), words(agreeing(ARTICLES, gender, plural), sure=number), NOTHING)
    if kind == "a":
        return Determiner(words("a", sure=number), words(agreeing(INDEFINITE, gender, False), sure=number), NOTHING)
    if kind == "another":
        form = "outra" if gender == "f" else "outro"
        return Determiner(words("another", sure=number), words(form, sure=number), NOTHING)
    if kind == "every":
        return Determiner(words("every", sure=number), words("cada", sure=number), NOTHING)
    if kind == "bare":
        return Determiner((), (), NOTHING)
    if kind == "generic":
        return Determiner((), words(agreeing(ARTICLES, gender, plural)), NOTHING)
    if kind == "demonstrative":
        en = dice.pick([("these", "those"), ("this", "that")][not plural])
        form = DEMONSTRATIVES[en].split()[gender == "f"]
        return Determiner(words(en, sure=number), words(form, sure=number), NOTHING)
    if kind in {"number", "quantity", "many"}:
        table = NUMERALS if kind == "number" else QUANTIFIERS
        en = kind if kind == "many" else dice.pick(list(table))
        return Determiner(words(en, sure=number), words(table[en][gender == "f"], sure=number), NOTHING)
    if kind == "genitive":
        return _genitive(dice, noun, plural)
    assert kind in POSSESSIVES, kind
    return _possessive(dice, kind, noun, plural)


def noun_phrase(dice: Dice, noun: Noun, *, kind: str, plural: bool, adjectives: int) -> Phrase:
    """Determiner of `kind`, up to `adjectives` adjectives, and `noun`."""
    start = determiner(dice, kind, noun, plural)
    wanted = 0 if "kin" in noun.kinds else adjectives
    describing, before, after = _adjectives(dice, noun, plural, kind, wanted)
    number = dice.number()
    en_noun, gl_noun = (noun.en_plural, noun.gl_plural) if plural else (noun.en, noun.gl)
    en = start.en + describing.en + words(en_noun, sure=number)
    if kind == "a":
        en = (replace(en[0], text=english.article(en[1].text)), *en[1:])
    gl = start.gl + before.gl + words(gl_noun, sure=number) + after.gl + start.gl_after
    text = Bitext(en, gl, describing.relations | start.relations)
    return Phrase(text, 3, plural, noun.gender, noun, number, noun.kinds)


_SUBJECT_KINDS = (
    (0.50, "the"), (0.10, "a"), (0.05, "demonstrative"), (0.06, "my"), (0.04, "his"), (0.04, "her"), (0.05, "our"),
    (0.02, "their"), (0.06, "genitive"), (0.03, "number"), (0.02, "quantity"), (0.01, "another"), (0.02, "every"),
)  # fmt: skip
_OBJECT_KINDS = (
    (0.34, "the"), (0.22, "a"), (0.06, "demonstrative"), (0.04, "my"), (0.06, "his"), (0.05, "her"), (0.04, "our"),
    (0.03, "their"), (0.04, "genitive"), (0.05, "number"), (0.03, "many"), (0.03, "another"),
)  # fmt: skip


def _number_for(dice: Dice, noun: Noun, kind: str) -> bool:
    """Whether the phrase is plural."""
    if kind in {"number", "quantity", "many"}:
        return True
    if not noun.countable or kind in {"a", "another", "every"}:
        return False
    return dice.chance(0.3)


def _suits(noun: Noun, kind: str) -> bool:
    if not noun.countable and "kin" not in noun.kinds:
        return kind in {"the", "my", "his", "her", "our", "their", "genitive", "demonstrative"}
    if "unowned" in noun.kinds and (kind in POSSESSIVES or kind == "genitive"):
        return False
    if "kin" in noun.kinds:
        return kind in POSSESSIVES or kind == "genitive"
    if "person" in noun.kinds and "owned" not in noun.kinds:
        return kind not in POSSESSIVES and kind != "genitive"
    if "ridden" in noun.kinds or ("place" in noun.kinds and not noun.kinds & {"house", "farm", "garden", "shop"}):
        return kind in {"the", "a", "demonstrative", "another", "number", "quantity", "many"}
    return True


def _kind(dice: Dice, noun: Noun, table: tuple[tuple[float, str], ...]) -> str:
    kinds = [(weight, kind) for weight, kind in table if _suits(noun, kind)]
    return dice.weighted(kinds)


def subject_of(dice: Dice, noun: Noun, adjectives: float = 0.3) -> Phrase:
    """A noun phrase as a subject."""
    kind = _kind(dice, noun, _SUBJECT_KINDS)
    return noun_phrase(
        dice, noun, kind=kind, plural=_number_for(dice, noun, kind), adjectives=int(dice.chance(adjectives))
    )


_MEASURES = {
    "water": "glass vaso m", "milk": "glass vaso m", "juice": "glass vaso m", "wine": "glass copa f",
    "beer": "glass vaso m", "coffee": "cup cunca f", "tea": "cup cunca f", "soup": "plate prato m",
    "rice": "plate prato m", "bread": "piece anaco m", "cheese": "piece anaco m", "meat": "piece anaco m",
}  # fmt: skip


def measured(dice: Dice, noun: Noun) -> Phrase:
    """`a glass of milk` = `un vaso de leite`, but `a glass of wine` = `unha copa de viño`."""
    en, gl, gender = _MEASURES[noun.en].split()
    text = linked(dice, "a", "un" if gender == "m" else "unha") + linked(dice, en, gl) + linked(dice, "of", "de")
    content = linked(dice, noun.en, noun.gl)
    return Phrase(text + content, 3, False, gender, noun, content.en[0].sure, noun.kinds)


def object_of(dice: Dice, noun: Noun, adjectives: float = 0.35) -> Phrase:
    """A noun phrase as an object; masses and plurals may stand bare."""
    if "language" in noun.kinds or "sport" in noun.kinds:
        bare = "bare" if "language" in noun.kinds else "generic"
        return noun_phrase(dice, noun, kind=bare, plural=False, adjectives=0)
    if noun.en in _MEASURES and dice.chance(0.3):
        return measured(dice, noun)
    if (noun.kinds & {"mass", "food"} and dice.chance(0.35)) or (noun.en == "money" and dice.chance(0.7)):
        kind, plural = "bare", noun.countable
    else:
        kind = _kind(dice, noun, _OBJECT_KINDS)
        plural = _number_for(dice, noun, kind)
    wanted = int(dice.chance(adjectives)) + int(dice.chance(0.1))
    return noun_phrase(dice, noun, kind=kind, plural=plural, adjectives=wanted)
