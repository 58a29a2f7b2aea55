/* What the page carries, and its matrices, unpacked a block of sentences at a time. nmt/align/inspector.py has the format. */
const data = JSON.parse(byId("data").textContent);
const exports = data.exports;
const compared = exports.length > 1;
const sentences = [...document.querySelectorAll("script.sentences")].flatMap((script, block) =>
  JSON.parse(script.textContent).map((sentence) => ({ ...sentence, block })),
);
sentences.forEach(prepare);
const unpacked = new Map(); // block -> promise of its bytes, the newest last
const KEPT_BLOCKS = 4;

function prepare(sentence, position) {
  sentence.position = position;
  sentence.words = splitWords(sentence.source);
  for (const side of sentence.sides) side.words = splitWords(side.target);
}

/* Words are the fields between U+0020 and nothing else, as in the export. */
function splitWords(line) {
  return line.split(" ").filter((field) => field !== "");
}

function canUnpack() {
  return typeof DecompressionStream === "function";
}

function blockBytes(block) {
  const found = unpacked.get(block) ?? unpack(block);
  unpacked.delete(block);
  unpacked.set(block, found);
  if (unpacked.size > KEPT_BLOCKS) unpacked.delete(unpacked.keys().next().value);
  return found;
}

async function unpack(block) {
  const raw = atob((await blockScript(block)).textContent);
  const packed = Uint8Array.from(raw, (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* The weights stand at the end of the page, so that it can be read while the rest of a large file arrives. */
async function blockScript(block) {
  for (;;) {
    const script = byId("weights-" + block);
    if (script && (script.nextElementSibling || document.readyState !== "loading")) return script;
    await pause(10);
  }
}

function hasPieces(side) {
  return !(isIdentity(side.sourceWords) && isIdentity(side.targetWords));
}

function isIdentity(map) {
  return map.every((word, piece) => word === piece);
}

/* Whether a matrix over words is stored beside the one over pieces: not where every word is one piece. */
function storesWords(sentence, side) {
  const same = side.sourceWords.length === sentence.words.length && side.targetWords.length === side.words.length;
  return !(same && !hasPieces(side));
}

/* Columns and rows of a matrix: label, word that it belongs to, whether a word begins there, whether it is EOS. */
function units(words, pieces, map, unit) {
  const own = unit === "words"
    ? words.map((label, word) => ({ label, word, begins: true, eos: false }))
    : pieces.map((label, i) => ({ label, word: map[i], begins: i === 0 || map[i] !== map[i - 1], eos: false }));
  return [...own, { label: EOS, word: words.length, begins: true, eos: true }];
}

/* {columns, rows, values (row by row), peak (what full colour stands for)} of an export's view. */
async function readMatrix(sentence, number, view, unit) {
  const bytes = await blockBytes(sentence.block);
  const side = sentence.sides[number];
  const columns = units(sentence.words, side.sourcePieces, side.sourceWords, unit);
  const rows = units(side.words, side.targetPieces, side.targetWords, unit);
  const place = locate(sentence, side, view, unit);
  const values = readValues(bytes, place, rows.length * columns.length);
  const peak = place.scale ? values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1 : 1;
  return { columns, rows, values, peak };
}

/* Where a matrix begins in the bytes of its block. scale 0: a byte is 1/255; else two bytes are scale/32767. */
function locate(sentence, side, view, unit) {
  const pieceCells = (side.sourceWords.length + 1) * (side.targetWords.length + 1);
  const wordCells = storesWords(sentence, side) ? (sentence.words.length + 1) * (side.words.length + 1) : 0;
  const scale = (v) => side.scales?.[v] ?? [0, 0];
  let offset = side.at;
  for (let v = 0; v < view; v++) offset += bytesOf(pieceCells, scale(v)[0]) + bytesOf(wordCells, scale(v)[1]);
  const [pieceScale, wordScale] = scale(view);
  if (unit === "pieces" || !wordCells) return { offset, scale: pieceScale };
  return { offset: offset + bytesOf(pieceCells, pieceScale), scale: wordScale };
}

function bytesOf(cells, scale) {
  return scale ? 2 * cells : cells;
}

function readValues(bytes, { offset, scale }, count) {
  if (!scale) return Float64Array.from(bytes.subarray(offset, offset + count), (level) => level / 255);
  const view = new DataView(bytes.buffer, offset, 2 * count);
  return Float64Array.from({ length: count }, (_, i) => (view.getInt16(2 * i, true) / 32767) * scale);
}
