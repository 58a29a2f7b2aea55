/* What matrix and ribbon share: links as boxes of units, measured text, labels, the words that stand for a picture. */
const FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif";
const pen = document.createElement("canvas").getContext("2d");

function textWidth(text, size = 13) {
  pen.font = `${size}px ${FONT}`;
  return pen.measureText(text).width;
}

/* Map word -> [first, last] unit; a word that no piece covers has none. */
function spans(units) {
  const found = new Map();
  units.forEach(({ word, eos }, i) => {
    if (!eos) found.set(word, [found.get(word)?.[0] ?? i, i]);
  });
  return found;
}

/* Links between words as boxes of the matrix's units. */
function boxes(pairs, matrix) {
  const [columns, rows] = [spans(matrix.columns), spans(matrix.rows)];
  return pairs.flatMap(([s, t, sure = true]) => {
    const [column, row] = [columns.get(s), rows.get(t)];
    return column && row ? [{ s, t, column, row, sure: Boolean(sure) }] : [];
  });
}

/* The cells of at least this weight, EOS left out. */
function boxesFrom(threshold, matrix) {
  const width = matrix.columns.length;
  return range(matrix.values.length).flatMap((i) => {
    const [s, t] = [i % width, Math.floor(i / width)];
    if (matrix.values[i] < threshold || matrix.columns[s].eos || matrix.rows[t].eos) return [];
    return [{ s: matrix.columns[s].word, t: matrix.rows[t].word, column: [s, s], row: [t, t], sure: true }];
  });
}

function covers(box, s, t) {
  return box.column[0] <= s && s <= box.column[1] && box.row[0] <= t && t <= box.row[1];
}

/* One label, isolated from its neighbours, whose given edge (start: left, end: right, middle) lies at the origin. */
function labelText(label, edge, attributes) {
  const text = visible(label);
  const rightToLeft = isRightToLeft(text);
  const anchor = rightToLeft ? { start: "end", end: "start", middle: "middle" }[edge] : edge;
  const made = drawn("text", { "text-anchor": anchor, direction: rightToLeft ? "rtl" : "ltr", "unicode-bidi": "isolate", ...attributes }, shortened(text));
  made.append(drawn("title", {}, text));
  return made;
}

function canvasOf(width, height, theme, label, description, ...children) {
  return drawn("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, "font-family": FONT, "font-size": 13, fill: theme.ink },
    drawn("desc", {}, description), drawn("rect", { width, height, fill: theme.page }), ...children);
}

/* For those who hear the page: what each row reads most. */
function strongest(matrix) {
  const width = matrix.columns.length;
  return matrix.rows.map((row, t) => {
    const values = matrix.values.subarray(t * width, (t + 1) * width);
    const best = values.reduce((most, value, s) => (value > values[most] ? s : most), 0);
    return `${visible(row.label)} reads ${visible(matrix.columns[best].label)} ${decimals(values[best])}`;
  }).join("; ");
}

function sizeText(matrix, unit) {
  return `${matrix.rows.length - 1} target ${unit} by ${matrix.columns.length - 1} source ${unit}`;
}

function legend(figure) {
  const theme = palette();
  const swatch = (shape) => drawn("svg", { width: 16, height: 16, "aria-hidden": "true" }, shape);
  const box = (attributes) => drawn("rect", { x: 2, y: 2, width: 12, height: 12, rx: 2, fill: "none", "stroke-width": 2, ...attributes });
  const items = [];
  if (figure.links.length) items.push([box({ stroke: theme.link }), "link"]);
  if (figure.gold.some((one) => one.sure)) items.push([box({ stroke: theme.gold }), "sure gold link"]);
  if (figure.gold.some((one) => !one.sure)) items.push([box({ stroke: theme.gold, "stroke-dasharray": "3 2" }), "possible gold link"]);
  const scale = drawn("svg", { width: 96, height: 11, "aria-hidden": "true" },
    ...range(24).map((i) => drawn("rect", { x: 4 * i, width: 4, height: 11, fill: shade(theme, i / 23) })),
    drawn("rect", { width: 96, height: 11, fill: "none", stroke: theme.line }));
  return element("ul", { class: "legend" },
    element("li", {}, figure.matrix.values.some((value) => value < 0) ? "sizes 0 " : "0 ", scale, ` ${figure.matrix.peak === 1 ? 1 : decimals(figure.matrix.peak)}`),
    ...items.map(([shape, text]) => element("li", {}, swatch(shape), text)),
  );
}
