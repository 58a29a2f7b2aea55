"""The verbs: who does what to what.

A line is `english[ particle] | galician[ preposition] | subjects | objects | flags`. Without objects the verb is
intransitive. One English word has several lines where subject or object decides. Flags:
    state    English past is a Galician imperfect (`knew` = `sabía`)
    clitic   may take an object pronoun        passive  may be used in the passive
    you      may be asked of `you`             we       may have `we` as subject; either lets `I` act too
    prog     may be progressive                give     gives an object to a person
    at to from in   intransitive with such a place
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Verb:
    """`gl_preposition` and `particle` stand before the object; empty where there is none."""

    en: str
    particle: str
    gl: str
    gl_preposition: str
    subjects: str
    objects: str
    flags: frozenset[str]

    def done_by(self, names: frozenset[str]) -> bool:
        """Whether a subject of these kinds or of this name does it."""
        return bool(names & set(self.subjects.split()))

    @property
    def lemma(self) -> str:
        return f"{self.en}.{self.gl}"


_TABLE = """
see | ver | person animal | person animal vehicle place nature sky | clitic you we
buy | mercar | person | food cloth thing vehicle read furniture house | clitic passive you we
sell | vender | adult | fruit crop cloth furniture vehicle livestock house read jewel | clitic passive
eat | comer | person | food | clitic you we prog
eat | comer | animal | fruit meat bread crop fish | clitic prog
drink | beber | person | drink | you we prog
read | ler | person | read | clitic passive prog
write | escribir | person | written | passive prog you
open | abrir | person | opened | clitic passive
close | pechar | person | opened | clitic passive you
wash | lavar | person | cloth car truck bicycle plate fruit window spoon fork bottle table hand | clitic prog
clean | limpar | person | room building furniture window mirror | clitic prog passive
find | atopar | person | thing animal cloth answer | clitic you
lose | perder | person | small cloth ball ring game | clitic you
look for | buscar | person | thing animal cloth person | prog
look at | mirar | person | sky picture photo map sea person animal flower watch | prog
listen to | escoitar | person | song radio teacher story wind rain heard person | prog
watch | ver | person | film watched football tennis | prog we
hear | oír | person animal | heard song animal | you
cook | cociñar | person | cooked | prog
break | romper | person | fragile glass chair lamp umbrella | clitic
repair | arranxar | adult | machine car truck bicycle roof furniture shoe | prog clitic passive
paint | pintar | person | painted | prog passive
paint | pintar | painter woman man | painted_by flower sea village boat horse | prog passive
carry | levar | person | carried box chair stone instrument | prog
wear | levar | person | cloth ring watch | state
hide | agochar | person | small gift toy money letter ball | clitic
visit | visitar | person | person place | we
know | coñecer | person | person town story song forest street beach | state clitic
know | saber | person | fact | state
know | saber | person | language | state
remember | lembrar | person | song fact story trip day word lesson | we
forget | esquecer | person | small fact word lesson | you
learn | aprender | person | language learnt | we
study | estudar | person | language lesson map | prog
understand | entender | person | question language problem lesson word answer poem | you we
tell | contar | person | told |
tell | dicir | person | said |
cut | cortar | person | cuttable rose flower fruit cake onion | prog
draw | debuxar | young painter | animal plant map house boat sky | prog
choose | escoller | person | cloth book gift fruit film song word flower | you
throw | lanzar | person | thrown |
pay for | pagar | adult | ticket coffee beer wine trip cloth party |
need | precisar | person | money key map doctor car tool umbrella coat water ticket friend horse | state we
want | querer | person | drink mass toy gift dog cat fruit cake bicycle money | state
have | ter | person | vehicle animal thing house garden money idea farm | state you we
use | usar | adult | tool machine map instrument |
play | xogar a | person | sport | prog we
play | tocar | person | instrument | prog
play | tocar | person | song | prog
ask for | pedir | person | drink mass money map ticket cake book | you
save | salvar | soldier doctor king sailor dog | person animal | passive clitic
save | aforrar | adult | money | prog
spend | gastar | person | money |
spend | pasar | person | time |
grow | cultivar | farmer adult | crop flower rose |
return | devolver | person | book key car money umbrella camera ring bicycle | clitic
plant | plantar | person | plant crop | prog
build | construír | adult | built | passive
burn | queimar | person | paper read | clitic
sing | cantar | person | song | prog
cross | cruzar | person animal | crossed |
win | gañar | person | game money |
solve | resolver | person | problem | we
explain | explicar | person | problem idea lesson word question exam |
count | contar | person | counted money | prog
drive | conducir | adult | car truck bus | prog
push | empuxar | person | car boat door table box bicycle | prog
finish | rematar | person | read lesson exam game |
steal | roubar | man boy wolf fox soldier | jewel money watch picture livestock bicycle car | passive clitic
follow | seguir | person animal | person animal river car map |
wait for | agardar | person | person bus train plane letter answer | prog
take | coller | person | ridden key umbrella book ball | we
take | tomar | adult | coffee tea beer | we
take | sacar | person | taken |
catch | pescar | sailor man boy grandfather | caught |
leave | deixar | person | bag suitcase car key umbrella book coat gift |
leave | saír de | person | building room city village bus train |
miss | perder | person | train bus plane |
light | acender | person | lit | passive
dream of | soñar con | person | sea snow moon trip princess horse party island | prog
think about | pensar en | person | problem question trip exam answer idea money party | prog
answer | responder a | person | question letter message |
go up | subir a | person | mountain tower bus train roof tree |
give | dar | person | food thing drink cloth flower rose letter | give passive
show | amosar | person | picture photo map garden house toy cloth letter | give
lend | emprestar | person | book bicycle car money umbrella coat tool camera | give
send | mandar | person | sent flower money photo book | give passive
bring | traer | person | food drink gift flower newspaper key chair coat | give
sleep | durmir | person animal | | prog at
work | traballar | person donkey | | prog at you
work | funcionar | machine | |
live | vivir | person | | state at you
live | vivir | animal | | state at
run | correr | person animal | | prog at
walk | camiñar | person animal | | prog at
swim | nadar | person animal | | prog swimmable we
arrive | chegar | person ridden | | at to2
go | ir | person | | to you we
come | vir | person | | from
return | volver | person ridden | | to from
travel | viaxar | person | | to
dance | bailar | person | | prog at we
sing | cantar | person flying | | prog at
cry | chorar | person | | prog at
laugh | rir | person | | prog at
fall | caer | fruit flower person tree stone star | |
die | morrer | king soldier animal plant | |
grow | medrar | plant crop young | | at
shine | brillar | sky jewel | |
fly | voar | flying | | prog
wait | agardar | person | | prog at
rest | descansar | person animal | | prog at
stay | quedar | person | | at
wake up | espertar | person animal | |
get up | erguerse | person | |
"""


def _entry(line: str) -> Verb:
    en, gl, subjects, objects, flags = (part.strip() for part in line.split("|"))
    en, _, particle = en.partition(" ")
    gl, _, preposition = gl.partition(" ")
    return Verb(en, particle, gl, preposition, subjects, objects, frozenset(flags.split()))


VERBS: tuple[Verb, ...] = tuple(_entry(line) for line in _TABLE.strip().splitlines())
TRANSITIVE = tuple(verb for verb in VERBS if verb.objects and "give" not in verb.flags)
INTRANSITIVE = tuple(verb for verb in VERBS if not verb.objects)
GIVING = tuple(verb for verb in VERBS if "give" in verb.flags)
BY_PERSONS = tuple(verb for verb in INTRANSITIVE if "person" in verb.subjects.split())


def named(names: str, pool: tuple[Verb, ...]) -> tuple[Verb, ...]:
    """The verbs of `pool` with one of these English lemmas."""
    return tuple(verb for verb in pool if verb.en in names.split())
