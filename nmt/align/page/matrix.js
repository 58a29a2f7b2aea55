/* The matrix: source across, target down, darkness for weight, outlines for links. */
const GAP = 7; // between labels and cells

function matrixFigure(figure) {
  const place = matrixPlace(figure);
  const { width, height, left, top } = place;
  const rows = drawn("g", {}, drawn("rect", { width: left, height, fill: figure.theme.page }), ...figure.matrix.rows.map((unit, t) => rowLabel(figure, place, unit, t)));
  const columns = drawn("g", {}, drawn("rect", { width, height: top, fill: figure.theme.page }), ...figure.matrix.columns.map((unit, s) => columnLabel(figure, place, unit, s)));
  const corner = drawn("rect", { width: left, height: top, fill: figure.theme.page });
  const pointer = drawn("g", { fill: "none", stroke: figure.theme.hit, "pointer-events": "none" });
  const label = `Matrix of ${sizeText(figure.matrix, figure.unit)}, ${figure.label}`;
  const svg = canvasOf(width, height, figure.theme, label, strongest(figure.matrix),
    cells(figure, place), frame(figure, place), outlines(figure, place), pointer, rows, columns, corner);
  const parts = { rows, columns, corner, pointer };
  return {
    svg,
    cellAt: (x, y) => cellAt(place, figure.matrix, x, y, parts),
    point: (cell) => pointAt(figure, place, parts, cell),
    /* The labels stay in sight while the cells scroll under them. */
    scrolled: (x, y) => {
      rows.setAttribute("transform", `translate(${x} 0)`);
      columns.setAttribute("transform", `translate(0 ${y})`);
      corner.setAttribute("transform", `translate(${x} ${y})`);
      parts.shift = [x, y];
    },
    boxOf: ({ s, t }) => ({ x: left + s * place.cellWidth, y: top + t * place.cellHeight, width: place.cellWidth, height: place.cellHeight, left, top }),
  };
}

function matrixPlace({ matrix, numbers, found }) {
  const [cellWidth, cellHeight] = numbers ? [36, 26] : [22, 22];
  const longest = (units) => Math.max(...units.map((unit) => textWidth(shortened(visible(unit.label)))));
  const rowGutter = matrix.rows.some((unit) => rowSign(found, unit)) ? 16 : 0;
  const columnGutter = matrix.columns.some((unit) => columnSign(found, unit)) ? 16 : 0;
  const slant = (longest(matrix.columns) + columnGutter + GAP) * Math.SQRT1_2;
  const left = Math.ceil(longest(matrix.rows) + rowGutter + 2 * GAP);
  const top = Math.ceil(slant + 16);
  const overhang = Math.max(...matrix.columns.map((unit, s) => (s + 0.5) * cellWidth + (textWidth(shortened(visible(unit.label))) + columnGutter + GAP) * Math.SQRT1_2 + 8));
  return {
    cellWidth, cellHeight, left, top, rowGutter, columnGutter,
    width: Math.ceil(left + Math.max(overhang, matrix.columns.length * cellWidth + 2)),
    height: top + matrix.rows.length * cellHeight + 2,
  };
}

function cells({ matrix, theme, numbers }, { left, top, cellWidth, cellHeight }) {
  const width = matrix.columns.length;
  const group = drawn("g", { "font-size": 11, "text-anchor": "middle", "font-variant-numeric": "tabular-nums" }, lattice(matrix, theme, { left, top, cellWidth, cellHeight }));
  matrix.values.forEach((value, i) => {
    const [x, y] = [left + (i % width) * cellWidth, top + Math.floor(i / width) * cellHeight];
    const share = value / matrix.peak;
    const colour = shade(theme, share);
    if (colour !== theme.none) group.append(drawn("rect", { x, y, width: cellWidth, height: cellHeight, fill: colour, stroke: theme.line, "stroke-width": 0.5 }));
    const text = decimals(value);
    if (!numbers || text === "0.00") return;
    group.append(drawn("text", { x: x + cellWidth / 2, y: y + cellHeight / 2 + 4, fill: theme.inkOn.get(colour) }, text));
  });
  return group;
}

/* The empty cells, all at once: a long sentence has thousands. */
function lattice({ columns, rows }, theme, { left, top, cellWidth, cellHeight }) {
  const [width, height] = [columns.length * cellWidth, rows.length * cellHeight];
  const lines = [...rows.map((_, t) => `M${left} ${top + t * cellHeight}h${width}`), ...columns.map((_, s) => `M${left + s * cellWidth} ${top}v${height}`)];
  return drawn("g", {}, drawn("rect", { x: left, y: top, width, height, fill: theme.none }), drawn("path", { d: lines.join(""), stroke: theme.line, "stroke-width": 0.5 }));
}

/* The frame, and lines that part words (of several pieces) and EOS. */
function frame({ matrix, theme }, { left, top, cellWidth, cellHeight }) {
  const [width, height] = [matrix.columns.length * cellWidth, matrix.rows.length * cellHeight];
  const group = drawn("g", { fill: "none", stroke: theme.faint, "stroke-width": 1 });
  const weight = (unit) => (unit.eos ? { "stroke-width": 1.5 } : { "stroke-opacity": 0.55 });
  const parts = (units) => units.some((unit) => !unit.begins);
  matrix.columns.forEach((unit, s) => {
    if (s && (unit.eos || (unit.begins && parts(matrix.columns)))) group.append(drawn("path", { d: `M${left + s * cellWidth} ${top}v${height}`, ...weight(unit) }));
  });
  matrix.rows.forEach((unit, t) => {
    if (t && (unit.eos || (unit.begins && parts(matrix.rows)))) group.append(drawn("path", { d: `M${left} ${top + t * cellHeight}h${width}`, ...weight(unit) }));
  });
  group.append(drawn("rect", { x: left, y: top, width, height }));
  return group;
}

/* Gold on the cell's edge, the export's links inside it, so that both can be seen. */
function outlines(figure, place) {
  const outline = (box, inset, attributes) => drawn("rect", {
    x: place.left + box.column[0] * place.cellWidth + inset, y: place.top + box.row[0] * place.cellHeight + inset, rx: 3,
    width: (box.column[1] - box.column[0] + 1) * place.cellWidth - 2 * inset, height: (box.row[1] - box.row[0] + 1) * place.cellHeight - 2 * inset,
    ...attributes,
  });
  return drawn("g", { fill: "none", "stroke-width": 2.25 },
    ...figure.gold.map((box) => outline(box, 0.5, { class: box.sure ? "sure" : "possible", stroke: figure.theme.gold, "stroke-dasharray": box.sure ? null : "4 3" })),
    ...figure.links.map((box) => outline(box, 3.5, { class: "link", stroke: figure.theme.link })),
  );
}

function rowLabel({ theme, found }, { left, top, cellHeight, rowGutter }, unit, t) {
  const sign = rowSign(found, unit);
  const fillOf = unit.eos ? theme.faint : sign ? theme.warn : theme.ink;
  const label = labelText(unit.label, "end", { x: left - GAP - rowGutter, y: top + (t + 0.5) * cellHeight + 4.5, fill: fillOf });
  const group = drawn("g", { class: "row-label" }, label);
  if (sign) group.append(drawn("text", { x: left - GAP, y: top + (t + 0.5) * cellHeight + 4.5, "text-anchor": "end", fill: theme.warn }, sign));
  return group;
}

function columnLabel({ theme, found }, { left, top, cellWidth, columnGutter }, unit, s) {
  const sign = columnSign(found, unit);
  const fillOf = unit.eos ? theme.faint : sign ? theme.warn : theme.ink;
  const label = labelText(unit.label, "start", { x: columnGutter, fill: fillOf });
  const group = drawn("g", { class: "column-label", transform: `translate(${left + (s + 0.5) * cellWidth + 4} ${top - GAP}) rotate(-45)` }, label);
  if (sign) group.append(drawn("text", { fill: theme.warn }, sign));
  return group;
}

/* A label points at its whole row or column: s or t is then null. */
function cellAt(place, matrix, x, y, { shift = [0, 0] }) {
  const inside = (i, count) => (i >= 0 && i < count ? i : null);
  const s = x - shift[0] < place.left ? null : inside(Math.floor((x - place.left) / place.cellWidth), matrix.columns.length);
  const t = y - shift[1] < place.top ? null : inside(Math.floor((y - place.top) / place.cellHeight), matrix.rows.length);
  return s === null && t === null ? null : { s, t };
}

function pointAt({ matrix }, { left, top, cellWidth, cellHeight }, { rows, columns, pointer }, cell) {
  for (const one of [...rows.querySelectorAll("[font-weight]"), ...columns.querySelectorAll("[font-weight]")]) one.removeAttribute("font-weight");
  pointer.replaceChildren();
  if (!cell) return;
  const { s, t } = cell;
  const [width, height] = [matrix.columns.length * cellWidth, matrix.rows.length * cellHeight];
  const band = (attributes) => pointer.append(drawn("rect", { "stroke-width": 1.25, "stroke-opacity": 0.75, ...attributes }));
  if (t !== null) {
    rows.querySelectorAll(".row-label")[t].setAttribute("font-weight", 700);
    band({ class: "row-band", x: left, y: top + t * cellHeight, width, height: cellHeight });
  }
  if (s !== null) {
    columns.querySelectorAll(".column-label")[s].setAttribute("font-weight", 700);
    band({ class: "column-band", x: left + s * cellWidth, y: top, width: cellWidth, height });
  }
  if (s !== null && t !== null) {
    band({ class: "cell", x: left + s * cellWidth, y: top + t * cellHeight, width: cellWidth, height: cellHeight, "stroke-width": 2.5, "stroke-opacity": 1 });
  }
}
