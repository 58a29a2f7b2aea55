/* The ribbon: the source's line above, the target's below, a curve for every weight that can be seen, links on top. */
const DRAWN_FROM = 0.05; // of the peak; thinner curves would only be fog
const RIBBON = { side: 14, gap: 14, top: 46, drop: 150, bottom: 46, sign: 17 };

function ribbonFigure(figure) {
  const { matrix, theme } = figure;
  const [above, below] = [row(matrix.columns), row(matrix.rows)];
  const width = Math.ceil(Math.max(above.width, below.width)) + 2 * RIBBON.side;
  const height = RIBBON.top + RIBBON.drop + RIBBON.bottom;
  above.centres = above.centres.map((x) => x + (width - above.width) / 2);
  below.centres = below.centres.map((x) => x + (width - below.width) / 2);
  const curve = ([x1, x2], attributes) => drawn("path", { d: `M${x1} ${RIBBON.top}C${x1} ${RIBBON.top + RIBBON.drop / 2} ${x2} ${RIBBON.top + RIBBON.drop / 2} ${x2} ${RIBBON.top + RIBBON.drop}`, ...attributes });
  const middle = (centres, [first, last]) => (centres[first] + centres[last]) / 2;
  const ends = (box) => [middle(above.centres, box.column), middle(below.centres, box.row)];
  const label = `Ribbon of ${sizeText(matrix, figure.unit)}, ${figure.label}`;
  const svg = canvasOf(width, height, theme, label, strongest(matrix),
    drawn("g", { fill: "none", "stroke-linecap": "round" },
      ...weightCurves(figure, (s, t) => [above.centres[s], below.centres[t]], curve),
      ...figure.gold.map((box) => curve(ends(box), { class: `curve ${box.sure ? "sure" : "possible"}`, "data-from": box.column.join(), "data-to": box.row.join(), stroke: theme.gold, "stroke-width": 4.5, "stroke-opacity": 0.85, "stroke-dasharray": box.sure ? null : "7 6" })),
      ...figure.links.map((box) => curve(ends(box), { class: "curve link", "data-from": box.column.join(), "data-to": box.row.join(), stroke: theme.link, "stroke-width": 1.75 })),
    ),
    ...matrix.columns.map((unit, s) => ribbonLabel(figure, unit, { s, t: null }, above.centres[s], RIBBON.top - 10, columnSign(figure.found, unit), -RIBBON.sign)),
    ...matrix.rows.map((unit, t) => ribbonLabel(figure, unit, { s: null, t }, below.centres[t], RIBBON.top + RIBBON.drop + 19, rowSign(figure.found, unit), RIBBON.sign)),
  );
  svg.classList.add("ribbon");
  const nearest = (centres, x) => centres.reduce((best, centre, i) => (Math.abs(centre - x) < Math.abs(centres[best] - x) ? i : best), 0);
  return {
    svg,
    cellAt: (x, y) => (y < RIBBON.top ? { s: nearest(above.centres, x), t: null } : y > RIBBON.top + RIBBON.drop ? { s: null, t: nearest(below.centres, x) } : null),
    point: (cell) => pointRibbon(svg, cell),
    scrolled: () => {},
    boxOf: ({ s, t }) => ({ x: t === null ? above.centres[s] : below.centres[t], y: 0, width: 40, height, left: 40, top: 0 }),
  };

  /* Units side by side in the reading direction of their line. */
  function row(units) {
    const rightToLeft = isRightToLeft(units.filter((unit) => !unit.eos).map((unit) => unit.label).join(" "));
    const ordered = rightToLeft ? [...units.keys()].reverse() : [...units.keys()];
    const centres = [];
    let x = 0;
    for (const i of ordered) {
      const wide = Math.max(textWidth(shortened(visible(units[i].label)), 14), 10);
      centres[i] = x + wide / 2;
      x += wide + RIBBON.gap;
    }
    return { centres, width: x - RIBBON.gap };
  }
}

function weightCurves({ matrix, theme }, ends, curve) {
  const width = matrix.columns.length;
  return [...matrix.values].flatMap((value, i) => {
    const share = value / matrix.peak;
    if (Math.abs(share) < DRAWN_FROM) return [];
    const [s, t] = [i % width, Math.floor(i / width)];
    const faint = matrix.columns[s].eos || matrix.rows[t].eos;
    const made = curve(ends(s, t), { class: "curve weight", "data-from": `${s},${s}`, "data-to": `${t},${t}`, stroke: shade(theme, share < 0 ? -1 : 1), "stroke-opacity": (0.08 + 0.5 * Math.abs(share)) * (faint ? 0.4 : 1), "stroke-width": 1 + 8 * Math.abs(share) });
    made.append(drawn("title", {}, `${visible(matrix.columns[s].label)} → ${visible(matrix.rows[t].label)} ${decimals(value)}`));
    return [made];
  });
}

function ribbonLabel({ theme }, unit, cell, x, y, sign, offset) {
  const fillOf = unit.eos ? theme.faint : sign ? theme.warn : theme.ink;
  const group = drawn("g", { class: "label", "data-s": cell.s, "data-t": cell.t }, labelText(unit.label, "middle", { x, y, "font-size": 14, fill: fillOf }));
  if (sign) group.append(drawn("text", { x, y: y + offset, "text-anchor": "middle", fill: theme.warn, "font-size": 12 }, sign));
  return group;
}

function pointRibbon(svg, cell) {
  const within = (text, i) => i === null || (Number(text.split(",")[0]) <= i && i <= Number(text.split(",")[1]));
  const touched = new Set();
  svg.classList.toggle("pointing", Boolean(cell));
  for (const path of svg.querySelectorAll(".curve")) {
    const on = Boolean(cell) && within(path.dataset.from, cell.s) && within(path.dataset.to, cell.t);
    path.classList.toggle("on", on);
    if (on) for (const [key, text] of [["s", path.dataset.from], ["t", path.dataset.to]]) touched.add(key + text.split(",")[0]).add(key + text.split(",")[1]);
  }
  for (const label of svg.querySelectorAll(".label")) {
    const own = cell && (label.dataset.s === String(cell.s) || label.dataset.t === String(cell.t));
    label.classList.toggle("on", Boolean(own) || touched.has("s" + label.dataset.s) || touched.has("t" + label.dataset.t));
  }
}
