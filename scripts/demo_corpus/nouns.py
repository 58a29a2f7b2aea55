"""The nouns: English, Galician, gender and what kinds of thing they name.

A line is `english[/plural] | galician[/plural] gender | kinds`; `-` for a plural says that the noun has none here.
Kinds say which verbs, adjectives and places fit; a kind that starts with `at:` is the English preposition of a place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from . import english, spelling


@dataclass(frozen=True, eq=False)
class Noun:
    """A noun; `gender` is m or f. There is one object a noun, so identity is equality."""

    en: str
    en_plural: str
    gl: str
    gl_plural: str
    gender: str
    kinds: frozenset[str]

    @property
    def countable(self) -> bool:
        return self.en_plural != "-"


_TABLE = """
man/men | home m | person adult
woman/women | muller f | person adult
boy | rapaz m | person young
girl | rapaza f | person young
king | rei m | person adult crown
queen | raíña f | person adult crown
prince | príncipe m | person crown
princess | princesa f | person crown
waiter | camareiro m | person adult job
waitress | camareira f | person adult job
actor | actor m | person adult job
actress | actriz f | person adult job
teacher | mestre m | person adult job
doctor | médico m | person adult job
neighbour | veciño m | person adult owned
friend | amigo m | person owned
baker | panadeiro m | person adult job
farmer | labrego m | person adult job
sailor | mariñeiro m | person adult job
child/children | neno m | person young
soldier | soldado m | person adult job
writer | escritor m | person adult job
painter | pintor m | person adult job
cook | cociñeiro m | person adult job
father/- | pai m | person adult kin
mother/- | nai f | person adult kin
brother | irmán m | person kin
sister | irmá f | person kin
son | fillo m | person kin
daughter | filla f | person kin
grandfather/- | avó m | person adult kin
grandmother/- | avoa f | person adult kin
uncle | tío m | person adult kin
aunt | tía f | person adult kin
dog | can m | animal pet
cat | gato m | animal pet
horse | cabalo m | animal livestock
cow | vaca f | animal livestock
hen | galiña f | animal livestock
pig | porco m | animal livestock
goat | cabra f | animal livestock
donkey | burro m | animal livestock
bird | paxaro m | animal flying
bee | abella f | animal flying insect
butterfly | bolboreta f | animal flying insect
wolf/wolves | lobo m | animal wild
fox | raposo m | animal wild
rabbit | coello m | animal pet
mouse/mice | rato m | animal wild
frog | ra f | animal wild
bear | oso m | animal wild
fish/- | peixe m | food cooked caught fresh
apple | mazá f | food fruit fresh tasty
pear | pera f | food fruit fresh tasty
orange | laranxa f | food fruit fresh tasty
cherry | cereixa f | food fruit fresh tasty
fig | figo m | food fruit fresh tasty
chestnut | castaña f | food crop cooked
potato/potatoes | pataca f | food crop cooked
tomato/tomatoes | tomate m | food crop fresh
onion | cebola f | food crop cooked
carrot | cenoria f | food crop
egg | ovo m | food cooked fresh
cake | torta f | food cooked tasty
sardine | sardiña f | food caught cooked fresh
bread/- | pan m | food mass fresh cuttable
cheese/- | queixo m | food mass fresh cuttable
meat/- | carne f | food mass cooked cuttable
soup/- | sopa f | food mass cooked warm
rice/- | arroz m | food mass cooked
honey/- | mel m | food mass tasty
butter/- | manteiga f | food mass fresh
water/- | auga f | drink mass warm
milk/- | leite m | drink mass warm fresh
wine/- | viño m | drink mass
coffee/- | café m | drink mass warm
tea/- | té m | drink mass warm
beer/- | cervexa f | drink mass
juice/- | zume m | drink mass fresh
book | libro m | read written thing
letter | carta f | read written thing paper sent
newspaper | xornal m | read thing paper
story/stories | conto m | read written told
poem | poema m | read written learnt
magazine | revista f | read thing paper
novel | novela f | read written
message | mensaxe f | read written sent
shirt | camisa f | cloth thing
hat | sombreiro m | cloth thing small
coat | abrigo m | cloth thing
shoe | zapato m | cloth thing
dress | vestido m | cloth thing
glove | luva f | cloth thing small
jacket | chaqueta f | cloth thing
skirt | saia f | cloth thing
scarf/scarves | bufanda f | cloth thing
ring | anel m | thing small jewel
umbrella | paraugas/paraugas m | thing opened small
car | coche m | vehicle road machine
train | tren m | vehicle ridden
bus | autobús m | vehicle road ridden
boat | barco m | vehicle built
bicycle | bicicleta f | vehicle machine
plane | avión m | vehicle flying ridden
truck | camión m | vehicle road machine
city/cities | cidade f | place town at:in
village | aldea f | place town at:in
beach | praia f | place outdoors at:on
market | mercado m | place at:at
square | praza f | place crossed outdoors at:in
street | rúa f | place crossed outdoors at:in
park | parque m | place outdoors at:in
school | escola f | place building at:at
hospital | hospital m | place building at:in
church | igrexa f | place building ancient at:in
museum | museo m | place building at:at
station | estación f | place building at:at
port | porto m | place outdoors at:in
bridge | ponte f | place crossed built ancient outdoors at:on
castle | castelo m | place building built ancient at:in
library | biblioteca f | place building at:in
theatre | teatro m | place building at:at
garden | xardín m | place outdoors at:in
hotel | hotel m | place building at:in
shop | tenda f | place building opened at:in
restaurant | restaurante m | place building opened at:in
factory | fábrica f | place building at:in
island | illa f | place nature outdoors at:on unowned
forest | bosque m | place nature outdoors at:in unowned
mountain | montaña f | place nature high outdoors at:on unowned
river | río m | nature crossed swimmable unowned
lake | lago m | nature swimmable crossed unowned
sea | mar m | nature swimmable unowned
farm | granxa f | place outdoors at:on
office | oficina f | place room at:in
tower | torre f | built ancient high building
country | país m | place land at:in
bank | banco m | place building at:in
house | casa f | place building built room painted at:in
kitchen | cociña f | place room painted at:in
bedroom | dormitorio m | place room painted at:in
bathroom | baño m | place room at:in
door | porta f | part opened painted
window | fiestra f | part opened glass
roof | tellado m | part painted
wall | muro m | built painted high
table | mesa f | thing furniture painted top
chair | cadeira f | thing furniture painted top
bed | cama f | thing furniture top
box | caixa f | thing container opened
drawer | caixón m | container opened
bag | bolsa f | thing container carried opened
basket | cesta f | thing container carried
shelf/shelves | andel m | thing furniture top
suitcase | maleta f | thing container carried opened
sofa | sofá m | thing furniture top
cupboard | armario m | thing furniture opened container painted
bottle | botella f | thing opened glass
plate | prato m | thing fragile
mirror | espello m | thing glass fragile
key | chave f | thing small metal
knife/knives | coitelo m | thing tool metal
spoon | culler f | thing metal
fork | garfo m | thing metal
pencil | lapis/lapis m | thing small tool
photo | foto f | thing small paper taken
picture | cadro m | thing painted_by
lamp | lámpada f | thing lit
candle | candea f | thing lit
phone | teléfono m | thing machine small
computer | ordenador m | thing machine
watch | reloxo m | thing machine small
coin | moeda f | thing small metal counted
map | mapa m | thing paper small
ball | pelota f | thing thrown
toy | xoguete m | thing fragile
gift | agasallo m | thing sent
flower | flor f | plant fresh
tree | árbore f | plant high cuttable
rose | rosa f | plant fresh
stone | pedra f | thing thrown counted
rope | corda f | thing tool cuttable
hammer | martelo m | thing tool metal
camera | cámara f | thing machine small
ticket | billete m | thing small paper
machine | máquina f | machine
radio | radio f | thing machine
bell | campá f | heard metal
flag | bandeira f | thing painted
engine | motor m | machine
sun/- | sol m | sky unowned
moon/- | lúa f | sky unowned
star | estrela f | sky counted unowned
rain/- | choiva f | weather heard unowned
snow/- | neve f | weather unowned
wind/- | vento m | weather heard unowned
storm | treboada f | weather heard unowned
cloud | nube f | sky unowned
hand | man f | body
eye | ollo m | body
head | cabeza f | body
arm | brazo m | body
leg | perna f | body
truth/- | verdade f | fact said unowned
question | pregunta f | asked idea
answer | resposta f | fact idea
problem | problema m | idea
idea | idea f | idea
name | nome m | fact
secret | segredo m | fact told
word | palabra f | learnt
lesson | lección f | learnt idea
exam | exame m | idea
song | canción f | heard learnt
film | película f | watched
party/parties | festa f | event
game | xogo m | event
trip | viaxe f | event
money/- | diñeiro m | money
day | día m | time
night | noite f | time
week | semana f | time
month | mes/meses m | time
afternoon | tarde f | time
piano | piano m | instrument
guitar | guitarra f | instrument thing
violin | violín m | instrument thing
flute | frauta f | instrument thing
drum | tambor m | instrument thing
football/- | fútbol m | sport
tennis/- | tenis m | sport
chess/- | xadrez m | sport
English/- | inglés m | language
French/- | francés m | language
Galician/- | galego m | language
Portuguese/- | portugués m | language
"""


def _entry(line: str) -> Noun:
    names, translation, kinds = (part.strip() for part in line.split("|"))
    en, _, en_plural = names.partition("/")
    gl_names, gender = translation.split()
    gl, _, gl_plural = gl_names.partition("/")
    return Noun(
        en, en_plural or english.plural(en), gl, gl_plural or spelling.plural(gl), gender, frozenset(kinds.split())
    )


NOUNS: tuple[Noun, ...] = tuple(_entry(line) for line in _TABLE.strip().splitlines())

# Feminine partners of the nouns that English does not mark: `María is a doctor` = `María é médica`.
FEMININE_JOBS = {
    "teacher": "mestra", "doctor": "médica", "baker": "panadeira", "farmer": "labrega", "sailor": "mariñeira",
    "soldier": "soldada", "writer": "escritora", "painter": "pintora", "cook": "cociñeira",
}  # fmt: skip

NAMES = {"María": "f", "Sabela": "f", "Uxía": "f", "Iria": "f", "Antón": "m", "Xoán": "m", "Brais": "m", "Martiño": "m"}
# The town whose name begins with an article shows the contraction: `in Corunna` = `na Coruña`.
TOWNS = {"Vigo": "Vigo", "Lugo": "Lugo", "Lisbon": "Lisboa", "London": "Londres", "Corunna": "a Coruña"}


@cache
def of_kinds(kinds: str) -> tuple[Noun, ...]:
    """The nouns that have any of the kinds (or are named) in `kinds`, in the table's order."""
    wanted = set(kinds.split())
    return tuple(noun for noun in NOUNS if noun.kinds & wanted or noun.en in wanted)
