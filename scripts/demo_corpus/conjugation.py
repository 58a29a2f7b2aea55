"""Galician verbs: regular endings, spelling changes, and the irregular verbs written out.

Tenses are present, past (the preterite), imperfect, future and (present) subjunctive; persons 1..6 are eu, ti, el, nós,
vós, eles.
"""

from __future__ import annotations

import re
from functools import cache

_ENDINGS = {
    "ar": {
        "present": "o as a amos ades an",
        "past": "ei aches ou amos astes aron",
        "imperfect": "aba abas aba abamos abades aban",
        "subjunctive": "e es e emos edes en",
    },
    "er": {
        "present": "o es e emos edes en",
        "past": "ín iches eu emos estes eron",
        "imperfect": "ía ías ía iamos iades ían",
        "subjunctive": "a as a amos ades an",
    },
    "ir": {
        "present": "o es e imos ides en",
        "past": "ín iches iu imos istes iron",
        "imperfect": "ía ías ía iamos iades ían",
        "subjunctive": "a as a amos ades an",
    },
}
_FUTURE = ["ei", "ás", "á", "emos", "edes", "án"]
_GERUND = {"ar": "ando", "er": "endo", "ir": "indo"}

# Only what departs from the regular pattern.
_IRREGULAR: dict[str, dict[str, str]] = {
    "ser": {
        "present": "son es é somos sodes son",
        "past": "fun fuches foi fomos fostes foron",
        "imperfect": "era eras era eramos erades eran",
        "subjunctive": "sexa sexas sexa sexamos sexades sexan",
    },
    "estar": {
        "present": "estou estás está estamos estades están",
        "past": "estiven estiveches estivo estivemos estivestes estiveron",
        "subjunctive": "estea esteas estea esteamos esteades estean",
    },
    "ter": {
        "present": "teño tes ten temos tedes teñen",
        "past": "tiven tiveches tivo tivemos tivestes tiveron",
        "imperfect": "tiña tiñas tiña tiñamos tiñades tiñan",
        "subjunctive": "teña teñas teña teñamos teñades teñan",
    },
    "vir": {
        "present": "veño vés vén vimos vindes veñen",
        "past": "vin viñeches veu viñemos viñestes viñeron",
        "imperfect": "viña viñas viña viñamos viñades viñan",
        "subjunctive": "veña veñas veña veñamos veñades veñan",
    },
    "ir": {
        "present": "vou vas vai imos ides van",
        "past": "fun fuches foi fomos fostes foron",
        "imperfect": "ía ías ía iamos iades ían",
        "future": "irei irás irá iremos iredes irán",
        "subjunctive": "vaia vaias vaia vaiamos vaiades vaian",
        "gerund": "indo",
        "participle": "ido",
    },
    "ver": {
        "present": "vexo ves ve vemos vedes ven",
        "past": "vin viches viu vimos vistes viron",
        "imperfect": "vía vías vía viamos viades vían",
        "subjunctive": "vexa vexas vexa vexamos vexades vexan",
        "participle": "visto",
    },
    "ler": {
        "present": "leo les le lemos ledes len",
        "past": "lin liches leu lemos lestes leron",
        "subjunctive": "lea leas lea leamos leades lean",
    },
    "crer": {
        "present": "creo cres cre cremos credes cren",
        "past": "crin criches creu cremos crestes creron",
        "subjunctive": "crea creas crea creamos creades crean",
    },
    "dar": {
        "present": "dou dás dá damos dades dan",
        "past": "dei deches deu demos destes deron",
        "subjunctive": "dea deas dea deamos deades dean",
    },
    "dicir": {
        "present": "digo dis di dicimos dicides din",
        "past": "dixen dixeches dixo dixemos dixestes dixeron",
        "future": "direi dirás dirá diremos diredes dirán",
        "subjunctive": "diga digas diga digamos digades digan",
        "participle": "dito",
    },
    "traer": {
        "present": "traio traes trae traemos traedes traen",
        "past": "trouxen trouxeches trouxo trouxemos trouxestes trouxeron",
        "subjunctive": "traia traias traia traiamos traiades traian",
        "participle": "traído",
    },
    "caer": {
        "present": "caio caes cae caemos caedes caen",
        "past": "caín caeches caeu caemos caestes caeron",
        "subjunctive": "caia caias caia caiamos caiades caian",
        "participle": "caído",
    },
    "saír": {
        "present": "saio saes sae saímos saídes saen",
        "past": "saín saíches saíu saímos saístes saíron",
        "imperfect": "saía saías saía saïamos saïades saían",
        "future": "sairei sairás sairá sairemos sairedes sairán",
        "subjunctive": "saia saias saia saiamos saiades saian",
        "gerund": "saíndo",
        "participle": "saído",
    },
    "oír": {
        "present": "oio oes oe oímos oídes oen",
        "past": "oín oíches oíu oímos oístes oíron",
        "imperfect": "oía oías oía oïamos oïades oían",
        "future": "oirei oirás oirá oiremos oiredes oirán",
        "subjunctive": "oia oias oia oiamos oiades oian",
        "gerund": "oíndo",
        "participle": "oído",
    },
    "construír": {
        "present": "constrúo constrúes constrúe construímos construídes constrúen",
        "past": "construín construíches construíu construímos construístes construíron",
        "imperfect": "construía construías construía construïamos construïades construían",
        "future": "construirei construirás construirá construiremos construiredes construirán",
        "subjunctive": "constrúa constrúas constrúa construamos construades constrúan",
        "gerund": "construíndo",
        "participle": "construído",
    },
    "saber": {
        "present": "sei sabes sabe sabemos sabedes saben",
        "past": "souben soubeches soubo soubemos soubestes souberon",
        "subjunctive": "saiba saibas saiba saibamos saibades saiban",
    },
    "poder": {"past": "puiden puideches puido puidemos puidestes puideron"},
    "querer": {
        "past": "quixen quixeches quixo quixemos quixestes quixeron",
        "subjunctive": "queira queiras queira queiramos queirades queiran",
    },
    "durmir": {"present": "durmo dormes dorme durmimos durmides dormen"},
    "pedir": {"present": "pido pides pide pedimos pedides piden"},
    "seguir": {"present": "sigo segues segue seguimos seguides seguen"},
    "subir": {"present": "subo sobes sobe subimos subides soben"},
    "rir": {
        "present": "río ris ri rimos rides rin",
        "past": "rin riches riu rimos ristes riron",
    },
    "erguer": {"present": "ergo ergues ergue erguemos erguedes erguen"},
    "abrir": {"participle": "aberto"},
    "escribir": {"participle": "escrito"},
}


def _spelled(stem: str, ending: str, kind: str) -> str:
    """The stem keeps its sound before any ending: `busquei`, `cheguei`, `crucei`, `coñezo`."""
    front = ending[0] in "eéií"
    if kind == "ar" and front:
        stem = re.sub("c$", "qu", stem)
        stem = re.sub("g$", "gu", stem)
        stem = re.sub("z$", "c", stem)
    elif kind != "ar" and not front:
        stem = re.sub("c$", "z", stem)
    return stem + ending


def _regular(infinitive: str, tense: str) -> list[str]:
    kind = infinitive[-2:].replace("í", "i")
    if tense == "future":
        return [infinitive + ending for ending in _FUTURE]
    return [_spelled(infinitive[:-2], ending, kind) for ending in _ENDINGS[kind][tense].split()]


@cache
def forms(infinitive: str, tense: str) -> tuple[str, ...]:
    """The six persons of a tense."""
    written = _IRREGULAR.get(infinitive, {}).get(tense)
    return tuple(written.split() if written else _regular(infinitive, tense))


def finite(infinitive: str, tense: str, person: int) -> str:
    """The form of `person` 1..6."""
    return forms(infinitive, tense)[person - 1]


def gerund(infinitive: str) -> str:
    return _IRREGULAR.get(infinitive, {}).get("gerund", infinitive[:-2] + _GERUND[infinitive[-2:].replace("í", "i")])


def participle(infinitive: str) -> str:
    """Masculine singular; it agrees like an adjective in -o."""
    regular = infinitive[:-2] + ("ado" if infinitive.endswith("ar") else "ido")
    return _IRREGULAR.get(infinitive, {}).get("participle", regular)
