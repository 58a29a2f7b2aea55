"""Simple sentences of special shape: liking, existing, aching, passives, superlatives, parts of things."""

from __future__ import annotations

from dataclasses import replace

from . import copulas, english, nouns, predicates, verbs
from .bitext import Bitext, Dice, linked, related, words
from .clauses import Clause, acted, person_subject, subject_for
from .infinitives import modal
from .phrases import ARTICLES, FITTING, Phrase, agreeing, name, noun_phrase, preposition, pronoun, subject_of
from .places import place_preposition, where, where_thing
from .verb_groups import Clitic, Setting, english_verb, galician_verb, verb_group

_LIKED = nouns.of_kinds("food drink animal language sport song film flower book rain snow wind")


def _liker(dice: Dice) -> Phrase:
    who = dice.weighted(((0.3, "name"), (0.3, "noun"), (0.12, "he"), (0.12, "she"), (0.1, "I"), (0.06, "they")))
    if who == "name":
        return name(dice)
    return subject_of(dice, dice.pick(nouns.of_kinds("person")), 0.1) if who == "noun" else pronoun(who)


def _liked(dice: Dice) -> Phrase:
    noun = dice.pick(_LIKED)
    abstract = bool(noun.kinds & {"language", "sport"})
    kind = "generic" if abstract or dice.chance(0.6) else "demonstrative"
    plural = noun.countable and (kind == "generic" or dice.chance(0.5))
    return noun_phrase(dice, noun, kind=kind, plural=plural, adjectives=0)


def liking(dice: Dice, tense: str, person: Phrase | None = None, *, proclisis: bool = False) -> Bitext:
    """`the boy likes apples` = `ao rapaz gústanlle as mazás`: what is liked is the Galician subject."""
    person = person or _liker(dice)
    setting = Setting(tense, negated=dice.chance(0.25), proclisis=proclisis)
    thing, number = _liked(dice), dice.number()
    gl = {1: "me", 3: "lle", 4: "nos", 6: "lles"}[person.gl_person]
    if person.text.gl:
        clitic, to = Clitic(gl, possible=person.head), words("a")
    else:
        who = dice.number()
        clitic, to = Clitic(gl, sure=who), ()
        person = replace(person, text=person.text.replaced(en=words(person.text.en[0].text, sure=who)))
    aux, rest = english_verb("like", person, setting, number, ())
    pleases = galician_verb("gustar", thing, setting, number, state=True, clitic=clitic)
    text = Bitext(person.text.en + aux + rest + thing.text.en, to + person.text.gl + pleases + thing.text.gl)
    assert thing.noun is not None
    return text.relating(person.text.relations, thing.text.relations, related("like", thing.noun.en))


def existing(dice: Dice, tense: str) -> Bitext:
    """`there are two cats on the roof` = `hai dous gatos no tellado`."""
    noun = dice.pick([n for n in nouns.of_kinds("person animal thing plant food vehicle") if "kin" not in n.kinds])
    none = dice.chance(0.2)
    kind = "bare" if none or not noun.countable else dice.pick(["a", "a", "number", "quantity", "another"])
    plural = noun.countable and kind in {"bare", "number", "quantity"}
    thing = noun_phrase(dice, noun, kind=kind, plural=plural, adjectives=int(not none and dice.chance(0.5)))
    number, no = dice.number(), dice.number()
    be = {"present": "is are", "past": "was were"}[tense].split()[plural]
    en = words("there", possible=number) + words(be, sure=number) + (words("no", sure=no) if none else ())
    gl = (words("non", sure=no) if none else ()) + words("hai" if tense == "present" else "había", sure=number)
    place = where_thing(dice) if noun.kinds & {"thing", "food"} else where(dice)
    return Bitext(en, gl) + thing.text + place


_ACHING = nouns.of_kinds("body")
_OWNERS = {"my": "me", "his": "lle", "her": "lle", "our": "nos"}


def aching(dice: Dice, tense: str) -> Bitext:
    """`my left leg hurts` = `dóeme a perna esquerda`: the owner is a pronoun on the verb."""
    noun = dice.pick([n for n in _ACHING if n.en != "hand"])
    owner = dice.pick(list(_OWNERS))
    plural = (noun.en != "head" and (owner == "our" or dice.chance(0.5))) or owner == "our"
    part = noun_phrase(dice, noun, kind="the", plural=plural, adjectives=int(not plural))
    number, who = dice.number(), dice.number()
    en = words(owner, sure=who) + part.text.en[1:]
    # `my eyes hurt` does not tell when: the plural is always now.
    setting = Setting("present" if plural else tense)
    clitic = Clitic(_OWNERS[owner], sure=who)
    aux, rest = english_verb("hurt", part, setting, number, ())
    verb = galician_verb("doer", part, setting, number, state=True, clitic=clitic)
    article, *body = part.text.gl
    gl = verb + words(article.text) + tuple(body)
    return part.text.replaced(en=en + aux + rest, gl=gl)


def nobody(dice: Dice, tense: str) -> Bitext:
    """`nobody saw the dog` = `ninguén viu o can`."""
    verb = dice.pick([v for v in verbs.VERBS if "person" in v.subjects.split()])
    subject = Phrase(linked(dice, "nobody", "ninguén"), 3, False, "m", kinds=frozenset({"person"}))
    return Clause(subject, acted(dice, verb, subject, Setting(tense, proclisis=True))).text


def passive(dice: Dice, tense: str) -> Bitext:
    verb = dice.pick([v for v in verbs.VERBS if "passive" in v.flags])
    subject, said = predicates.passive(dice, verb, "future" if tense == "future" else "past", dice.chance(0.8))
    return Clause(subject, said).text


def modal_clause(dice: Dice, tense: str) -> Bitext:
    subject = person_subject(dice, first_person=True)
    setting = Setting("present" if tense == "future" else tense, negated=dice.chance(0.2))
    return Clause(subject, modal(dice, subject, setting)).text


_GRADED = tuple(
    n for n in nouns.of_kinds("person building street animal high")
    if "kin" not in n.kinds and any("graded" in a.flags for a in FITTING[n.en])
)  # fmt: skip


def superlative(dice: Dice, tense: str) -> Bitext:
    """`is the tallest boy in the school` = `é o rapaz máis alto da escola`."""
    noun = dice.pick(_GRADED)
    adjective = dice.pick([a for a in FITTING[noun.en] if "graded" in a.flags])
    if "person" in noun.kinds:
        subject = name(dice, noun.gender)
    else:
        subject = noun_phrase(dice, noun, kind="demonstrative", plural=False, adjectives=0)
    said = verb_group(dice, "be", "ser", subject, Setting("past" if tense == "past" else "present"), state=True)
    article, thing = dice.number(), dice.number()
    most = linked(dice, english.superlative(adjective.en), "máis " + adjective.form(noun.gender, False))
    en = words("the", sure=article) + most.en + words(noun.en, sure=thing)
    gl = words(agreeing(ARTICLES, noun.gender, False), sure=article) + words(noun.gl, sure=thing) + most.gl
    best = Bitext(en, gl, related(adjective.en, noun.en))
    area = noun_phrase(dice, dice.pick(nouns.of_kinds("town country island")), kind="the", plural=False, adjectives=0)
    assert area.noun is not None
    within = linked(dice, place_preposition(area.noun), "de")
    return Clause(subject, said.plus(best + within + area.text)).text


# English | Galician, gender | whose | verbs as english.galician | adjectives
_PARTS = tuple(
    tuple(part.strip() for part in line.split("|"))
    for line in """
roof | tellado m | house church school castle | repair.arranxar see.ver paint.pintar | red vermello, new novo, old vello
door | porta f | house church school castle shop | open.abrir close.pechar | open aberto, closed pechado
window | fiestra f | kitchen bedroom house train office | open.abrir close.pechar | dirty sucio, small pequeno
key | chave f | house car box suitcase | find.atopar lose.perder look.buscar | small pequeno, new novo
name | nome m | street village island river song | remember.lembrar forget.esquecer know.saber | strange estraño
price | prezo m | ticket house car ring dress coat | remember.lembrar forget.esquecer know.saber | high alto, low baixo
letter | letra f | word name | learn.aprender read.ler write.escribir | small pequeno, strange estraño
light | luz f | moon sun star lamp candle | see.ver look.mirar | strong forte, beautiful fermoso
wheel | roda f | bicycle car truck | repair.arranxar see.ver | broken roto, dirty sucio
page | páxina f | book newspaper magazine novel | read.ler look.mirar | white branco, important importante
leaf | folla f | tree rose | see.ver draw.debuxar | green verde, yellow amarelo, dry seco
colour | cor f | house car dress flower door | remember.lembrar choose.escoller | beautiful fermoso, strange estraño
end | final m | story film novel song | remember.lembrar know.coñecer | sad triste, strange estraño, beautiful fermoso
""".strip().splitlines()
)
_IRREGULAR_PARTS = {"leaf": "leaves"}


def parts(dice: Dice, tense: str) -> Bitext:
    """`the letters of the word` = `as letras da palabra`: the owner tells which letter is meant."""
    en, gl, owners, seen_by, qualities = dice.pick(_PARTS)
    gl, gender = gl.split()
    plural = en in {"letter", "wheel", "leaf", "window", "page"} and dice.chance(0.6)
    part = nouns.Noun(en, _IRREGULAR_PARTS.get(en, en + "s"), gl, gl + "s", gender, frozenset())
    whole = noun_phrase(
        dice,
        dice.pick(nouns.of_kinds(owners)),
        kind=dice.pick(["the", "the", "demonstrative"]),
        plural=False,
        adjectives=0,
    )
    thing = noun_phrase(dice, part, kind="the", plural=plural, adjectives=0)
    thing = replace(thing, text=thing.text + preposition(dice, "of") + whole.text)
    if dice.chance(0.4):
        return Clause(thing, copulas.being_named(dice, thing, Setting(tense), dice.pick(qualities.split(", ")))).text
    wanted = dice.pick(seen_by.split())
    verb = next(v for v in verbs.TRANSITIVE if v.lemma == wanted)
    subject = subject_for(dice, verb)
    return Clause(subject, predicates.transitive(dice, verb, subject, Setting(tense), thing)).text


def modal_again(dice: Dice, subject: Phrase, tense: str, thing: Phrase) -> Bitext:
    """`but could not open it`."""
    said = modal(dice, subject, Setting(tense, negated=True), thing)
    return Bitext(said.aux + said.rest, said.gl).relating(said.relations)
