"""The adjectives, with the kinds of noun they fit and the verb `be` they take.

A line is `english | galician[/fem[/masc plural/fem plural]] | kinds | flags`. Flags: `estar` or `ser`; `before` the
noun; `graded` has -er and -est; `attributive` never after `be`; `the` only with that article; `plain` is never `very`;
`colour`. One English word has several lines where the noun decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import spelling


@dataclass(frozen=True)
class Adjective:
    """`forms` are by gender and number: (ms, fs, mp, fp)."""

    en: str
    forms: tuple[str, str, str, str]
    kinds: frozenset[str]
    flags: frozenset[str]

    def form(self, gender: str, plural: bool) -> str:
        return self.forms[(gender == "f") + 2 * plural]

    @property
    def copula(self) -> str:
        return "estar" if "estar" in self.flags else "ser"

    @property
    def by_degrees(self) -> bool:
        """Whether it may be `very`."""
        return not self.flags & {"plain", "colour", "before", "attributive"}

    @property
    def invariable(self) -> bool:
        return self.forms[0] == self.forms[1]


_TABLE = """
red | vermello | cloth vehicle painted furniture flower apple cherry bag box pencil ball wine | ser colour
white | branco | cloth vehicle painted furniture flower rose dog cat horse cow hen rabbit cloud wine bird | ser colour
black | negro | cloth vehicle furniture dog cat horse goat cow bag umbrella cloud box | ser colour
green | verde | cloth vehicle painted furniture bottle apple eye bag pencil bird | ser colour
blue | azul | cloth vehicle painted furniture flower eye butterfly bag pencil sea | ser colour
yellow | amarelo | cloth vehicle painted furniture flower pear bird bag butterfly | ser colour
grey | gris | cloth vehicle cloud cat donkey mouse wolf stone wall | ser colour
brown | marrón | cloth furniture dog horse bear bag eye hen | ser colour
big | grande | place vehicle furniture container animal tree stone boat egg fish ball bell machine problem | ser graded
small | pequeno | place vehicle furniture container animal child egg fish tree bell toy thing problem | ser graded
long | longo | street bridge river rope letter story novel film trip dress skirt scarf table poem song | ser graded
short | curto | street bridge rope letter story film trip dress skirt poem song lesson pencil | ser graded
short | baixo | person | ser graded
tall | alto | person tree tower | ser graded
high | alto | mountain wall | ser graded
wide | ancho | street river bridge door bed window | ser graded
narrow | estreito | street bridge door bed window river | ser graded
heavy | pesado | box suitcase stone furniture bag hammer bell machine camera book basket | ser
heavy | forte | rain snow | ser
light | lixeiro | bag suitcase box bicycle coat shoe table chair camera | ser
new | novo | cloth vehicle furniture book phone computer camera school hospital hotel song film toy watch house | ser
young | novo | person horse tree | ser
old | vello | adult dog cat horse donkey cloth vehicle furniture book tree watch radio house machine shop | ser
old | antigo | church bridge castle tower coin map language city picture | ser
clean | limpo | cloth vehicle room plate spoon fork window water river beach street table hand | estar
dirty | sucio | cloth vehicle room plate spoon fork window water river beach street dog hand wall | estar
broken | roto | chair table plate mirror toy window watch phone radio lamp umbrella computer camera | estar plain
beautiful | fermoso | woman girl princess queen actress place flower tree horse song butterfly sea moon picture | ser
pretty | bonito | girl cloth flower village song house garden gift ring box photo bird | ser
ugly | feo | cloth furniture building frog picture dog city | ser
expensive | caro | cloth vehicle furniture watch phone computer ring hotel restaurant camera wine ticket picture | ser
cheap | barato | cloth furniture watch phone hotel restaurant ticket wine fruit bicycle camera | ser graded
strong | forte | person horse bear rope wind coffee donkey door | ser graded
empty | baleiro | container street square house church bottle train bus theatre restaurant shop beach plate | estar
full | cheo | container bottle train bus theatre restaurant hotel | estar
round | redondo | table stone mirror box tower ball window | ser plain
strange | estraño | man woman animal idea question story word house machine song picture | ser
useful | útil | tool map machine computer answer book idea language rope bag | ser
hard | duro | bread cheese stone bed chair | ser
hard | difícil | question exam lesson language word game | ser
easy | fácil | question exam lesson word game answer song | ser
dry | seco | cloth flower tree river | estar
wet | mollado | cloth dog street stone hand newspaper cat | estar
fresh | fresco | fresh | ser
hot | quente | warm bread plate hand | estar
cold | frío | warm drink hand meat room | estar
sweet | doce | fruit cake wine honey tea juice | ser
delicious | delicioso | food | ser
tired | canso | person horse dog | estar
happy | contento | person dog | estar
sad | triste | person dog | estar
sad | triste | song story film letter poem | ser
sick | enfermo | person cow horse dog cat | estar
rich | rico | person country city | ser graded
poor | pobre | person country village | ser graded
kind | amable | person | ser
intelligent | intelixente | person dog horse fox | ser
brave | valente | person dog | ser
lazy | preguiceiro | person cat donkey | ser
famous | famoso | adult job crown church museum bridge castle picture novel song film | ser
nervous | nervioso | person horse | estar
angry | enfadado | person | estar
busy | ocupado | adult | estar
quiet | calado | person | estar
quiet | tranquilo | place sea lake | ser
serious | serio | person problem question | ser
honest | honrado | adult | ser
elegant | elegante | adult cloth hotel | ser
open | aberto | opened museum library bank hotel | estar plain
closed | pechado | opened museum library bank hotel church | estar plain
modern | moderno | school hospital hotel museum factory library station city furniture machine | ser
dangerous | perigoso | street road wild bridge river sea mountain machine knife trip game | ser
dark | escuro | room street forest cloud church | ser
important | importante | fact question problem idea city letter exam | ser
interesting | interesante | read film museum city idea question lesson trip game | ser
boring | aburrido | read film lesson party game trip | ser
right | correcto | answer word name | ser plain
right | dereito | hand arm leg eye | ser attributive
left | esquerdo | hand arm leg eye | ser attributive
wooden | de_madeira | table chair bed box door spoon bridge boat house toy | ser attributive
golden | de_ouro | ring watch coin | ser attributive
good | bo/boa | person dog horse food drink book story novel film idea answer restaurant hotel song day | before
great | gran | writer painter actor actress king queen city party idea novel film country | before
first | primeiro | book letter question lesson exam trip word song street star train film | before
last | último | book letter question lesson exam trip word song train bus film apple coin | before
same | mesmo | book question song street house train city shirt word name answer hotel room problem | before the
"""

_IRREGULAR_PLURALS = {"útil": "útiles", "fácil": "fáciles", "difícil": "difíciles", "gran": "grandes", "gris": "grises"}


def forms_of(written: str) -> tuple[str, str, str, str]:
    if written.startswith("de_"):
        fixed = written.replace("_", " ")
        return fixed, fixed, fixed, fixed
    masculine, _, feminine = written.partition("/")
    feminine = feminine or spelling.feminine(masculine)
    plurals = (_IRREGULAR_PLURALS.get(word) or spelling.plural(word) for word in (masculine, feminine))
    return (masculine, feminine, *plurals)  # type: ignore[return-value]


def _entry(line: str) -> Adjective:
    en, gl, kinds, flags = (part.strip() for part in line.split("|"))
    return Adjective(en, forms_of(gl), frozenset(kinds.split()), frozenset(flags.split()))


ADJECTIVES: tuple[Adjective, ...] = tuple(_entry(line) for line in _TABLE.strip().splitlines())

_OPPOSED = (
    {"big", "small"}, {"long", "short"}, {"tall", "short"}, {"wide", "narrow"}, {"new", "old"}, {"young", "old"},
    {"clean", "dirty"}, {"beautiful", "ugly"}, {"pretty", "ugly"}, {"expensive", "cheap"}, {"empty", "full"},
    {"hard", "easy"}, {"hot", "cold"}, {"happy", "sad"}, {"rich", "poor"}, {"open", "closed"}, {"dry", "wet"},
    {"interesting", "boring"}, {"beautiful", "pretty"}, {"heavy", "light"}, {"delicious", "sweet"},
    {"modern", "old"}, {"new", "modern"}, {"tired", "lazy"}, {"high", "tall"},
    {"happy", "angry"}, {"quiet", "dangerous"}, {"short", "small"}, {"broken", "new"},
)  # fmt: skip


def joinable(first: Adjective, second: Adjective) -> bool:
    """Two adjectives that say different things: not two colours, nor big and small."""
    same_colour = "colour" in first.flags and "colour" in second.flags
    same_verb = first.copula == second.copula
    return first.en != second.en and same_verb and not same_colour and {first.en, second.en} not in _OPPOSED
