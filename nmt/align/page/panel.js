/* One export's panel: which view is shown, its figure, what is pointed at, warnings, all heads. */
const panels = exports.map((_, number) => buildPanel(number));

function buildPanel(number) {
  const parts = {
    title: element("h3", {}, compared ? `${"AB"[number]}: ${exportName(number)}` : ""),
    facts: element("p", { class: "facts" }),
    readout: element("p", { class: "readout", "aria-live": "polite" }),
    figure: element("div", { class: "figure", tabindex: 0, role: "group", "aria-label": "Figure; the arrows go from cell to cell" }),
    below: element("div"),
    heads: element("details", { class: "heads" }, element("summary", {}, "All layers and heads")),
    selectors: viewSelectors(number),
  };
  const buttons = ["SVG", "PNG"].map((kind) => element("button", { type: "button", class: `save-${kind.toLowerCase()}`, "aria-label": `Save the figure as ${kind}` }, kind));
  buttons.forEach((button, i) => button.addEventListener("click", () => savePanel(number, ["svg", "png"][i])));
  parts.buttons = buttons;
  parts.section = element("section", { class: "panel", "aria-label": compared ? `Export ${"AB"[number]}` : "Figure" },
    element("div", { class: "bar" }, ...(compared ? [parts.title] : []), ...parts.selectors.labels, ...buttons), parts.facts, parts.readout, parts.figure, parts.below, parts.heads);
  parts.heads.addEventListener("toggle", () => drawHeads(number));
  parts.heads.hidden = exports[number].views.length < 2;
  listenToFigure(number, parts);
  byId("panels").append(parts.section);
  return parts;
}

function exportName(number) {
  const { header } = exports[number];
  return String(header.run ?? header.file ?? "export");
}

/* Selects for method, layer and head; what has one choice only is not shown. */
function viewSelectors(number) {
  const views = exports[number].views;
  const families = distinct(views.map(familyOf));
  const familyLabel = (family) => {
    const view = views.find((one) => familyOf(one) === family);
    const shifts = distinct(views.filter((one) => one.method === view.method && one.raw === view.raw).map((one) => one.shift));
    return view.method.replaceAll("_", " ") + (view.raw ? " (raw)" : "") + (shifts.length > 1 ? `, shift ${view.shift}` : "");
  };
  const made = ["Method", "Layer", "Head"].map((name) => element("select", { "aria-label": compared ? `${name} of ${"AB"[number]}` : name, "data-part": name.toLowerCase() }));
  made[0].append(...families.map((family) => element("option", { value: family }, familyLabel(family))));
  const labels = made.map((select, i) => element("label", {}, ["Method", "Layer", "Head"][i] + " ", select));
  made.forEach((select, i) => select.addEventListener("change", () => chooseView(number, chosenView(number, made, i))));
  return { made, labels, families };
}

/* The view of what the selects say; a head or layer that the newly chosen one lacks gives way. */
function chosenView(number, [method, layer, head], changed) {
  const views = exports[number].views;
  const family = range(views.length).filter((v) => familyOf(views[v]) === method.value);
  const fits = (v, parts) => (!parts.includes("layer") || String(views[v].layer) === layer.value) && (!parts.includes("head") || String(views[v].head) === head.value);
  const wishes = [["layer", "head"], changed === 2 ? ["head"] : ["layer"], changed === 2 ? ["layer"] : ["head"], []];
  return wishes.map((parts) => family.find((v) => fits(v, parts))).find((v) => v !== undefined);
}

function updateSelectors(number) {
  const views = exports[number].views;
  const { made: [method, layer, head], labels, families } = panels[number].selectors;
  const shown = views[state.views[number]];
  const family = views.filter((view) => familyOf(view) === familyOf(shown));
  const options = (select, values, name, value) => {
    select.replaceChildren(...distinct(values).map((one) => element("option", { value: String(one) }, name(one))));
    select.value = String(value);
  };
  method.value = familyOf(shown);
  options(layer, family.map((view) => view.layer), String, shown.layer);
  options(head, family.map((view) => view.head), (one) => (one === null ? "mean" : String(one)), shown.head);
  [families.length, layer.length, head.length].forEach((count, i) => { labels[i].hidden = count < 2; });
}

async function drawPanel(number) {
  const sentence = sentences[state.position];
  const [view, unit, position] = [state.views[number], state.unit, state.position];
  const [matrix, words] = await Promise.all([readMatrix(sentence, number, view, unit), readMatrix(sentence, number, view, "words")]);
  if (position !== state.position || view !== state.views[number] || unit !== state.unit) return; // something else was asked for meanwhile
  const panel = panels[number];
  panel.shown = shownFigure(sentence, number, matrix, signs(words));
  placeFigure(panel);
  updateSelectors(number);
  panel.facts.replaceChildren(...facts(sentence, number));
  panel.below.replaceChildren(...(state.figure === "table" ? [] : [legend(panel.shown)]), warningList(sentence, sentence.sides[number], panel.shown.found));
  rest(number);
  await drawHeads(number);
}

function shownFigure(sentence, number, matrix, found) {
  const side = sentence.sides[number];
  const links = { stored: () => boxes(side.links, matrix), threshold: () => boxesFrom(state.threshold, matrix), none: () => [] }[state.links]();
  const view = exports[number].views[state.views[number]];
  return {
    matrix, found, links, unit: state.unit, theme: palette(), numbers: state.numbers,
    gold: state.gold && side.gold ? boxes(side.gold, matrix) : [], goldWords: side.gold,
    label: `${compared ? exportName(number) + ", " : ""}line ${sentence.line}, ${view.label}`,
  };
}

function placeFigure(panel) {
  const box = panel.figure;
  if (state.figure === "table") {
    panel.drawing = null;
    box.replaceChildren(tableFigure(panel.shown).table);
    return;
  }
  panel.drawing = state.figure === "matrix" ? matrixFigure(panel.shown) : ribbonFigure(panel.shown);
  box.replaceChildren(panel.drawing.svg);
  box.scrollTo(0, 0);
}

function facts(sentence, number) {
  const side = sentence.sides[number];
  const [mean] = signsOf(sentence, number);
  const read = coverage(sentence, number);
  const items = [exports[number].views[state.views[number]].label];
  if (side.bleu !== null) items.push(`BLEU ${side.bleu.toFixed(1)}`);
  if (side.aer !== null) items.push(`AER ${decimals(side.aer)}`);
  if (mean !== null) items.push(`entropy ${decimals(mean)}`);
  if (read !== null) items.push(`coverage ${decimals(read)}`);
  if (number === 1 && sentence.agreement !== null) items.push(`agreement ${decimals(sentence.agreement)}`);
  if (state.links === "threshold") items.push(thresholdFact(panels[number].shown));
  return [items.filter(Boolean).join(" · ")];
}

/* How the links of the threshold do, where there is gold and they are of words, as gold is. */
function thresholdFact({ links, goldWords, unit }) {
  if (!goldWords || unit !== "words") return `${links.length} links`;
  const [sure, possible] = [new Set(), new Set()];
  for (const [s, t, isSure] of goldWords) {
    possible.add(`${s}-${t}`);
    if (isSure) sure.add(`${s}-${t}`);
  }
  const hits = (gold) => links.filter(({ s, t }) => gold.has(`${s}-${t}`)).length;
  const total = links.length + sure.size;
  return `${links.length} links, AER ${decimals(total ? 1 - (hits(sure) + hits(possible)) / total : 0)}`;
}

async function drawHeads(number) {
  const { heads } = panels[number];
  if (!heads.open || state.position < 0 || heads.hidden) return;
  const position = state.position;
  const grid = await headPictures(sentences[position], number, state.views[number], (view) => chooseView(number, view));
  if (position === state.position) heads.replaceChildren(heads.firstElementChild, grid);
}

function savePanel(number, kind) {
  const panel = panels[number];
  if (!panel.shown) return;
  const { svg } = state.figure === "ribbon" ? ribbonFigure(panel.shown) : matrixFigure(panel.shown);
  const view = exports[number].views[state.views[number]].label;
  saveFigure(kind, svg, `${exportName(number)}-line${sentences[state.position].line}-${view}`);
}

function listenToFigure(number, { figure }) {
  const at = (event) => {
    const { drawing } = panels[number];
    if (!drawing) return null;
    const box = drawing.svg.getBoundingClientRect();
    return drawing.cellAt(event.clientX - box.left, event.clientY - box.top);
  };
  figure.addEventListener("pointermove", (event) => point(number, at(event)));
  figure.addEventListener("pointerleave", () => point(number, null));
  figure.addEventListener("blur", () => point(number, null));
  figure.addEventListener("scroll", () => panels[number].drawing?.scrolled(figure.scrollLeft, figure.scrollTop), { passive: true });
  figure.addEventListener("keydown", (event) => moveCell(number, event));
}

/* What is pointed at in one panel shows in the other too, where both have the same labels. */
function point(number, cell) {
  panels.forEach((panel, other) => {
    if (!panel.drawing || (other !== number && !sameLabels(panel, panels[number]))) return;
    panel.cell = cell;
    panel.drawing.point(cell);
    if (cell) panel.readout.replaceChildren(...readout(panel.shown, cell));
    else rest(other);
  });
}

function sameLabels(one, other) {
  const labels = ({ shown: { matrix } }) => JSON.stringify([matrix.columns, matrix.rows]);
  return one.shown && other.shown && labels(one) === labels(other);
}

function readout({ matrix, links, gold }, { s, t }) {
  const width = matrix.columns.length;
  const name = (unit) => element("bdi", {}, visible(unit.label));
  if (s !== null && t !== null) {
    const value = decimals(matrix.values[t * width + s]);
    const goldHere = gold.filter((box) => covers(box, s, t));
    const states = [links.some((box) => covers(box, s, t)) && "link", goldHere.length && (goldHere.some((box) => box.sure) ? "sure gold" : "possible gold")].filter(Boolean);
    return [name(matrix.columns[s]), " → ", name(matrix.rows[t]), "  ", element("strong", {}, value), states.length ? `  ${states.join(", ")}` : ""];
  }
  const [own, others, value] = t === null
    ? [matrix.columns[s], matrix.rows, (i) => matrix.values[i * width + s]] : [matrix.rows[t], matrix.columns, (i) => matrix.values[t * width + i]];
  const best = range(others.length).sort((a, b) => Math.abs(value(b)) - Math.abs(value(a)) || a - b).slice(0, 3).filter((i) => decimals(value(i)) !== "0.00");
  return [name(own), t === null ? " is read by " : " reads ", ...best.flatMap((i, k) => [k ? ", " : "", name(others[i]), ` ${decimals(value(i))}`]), best.length ? "" : "nothing"];
}

function rest(number) {
  const { shown, readout: line } = panels[number];
  const blank = shown.matrix.columns.length < 2 || shown.matrix.rows.length < 2;
  line.textContent = blank ? "One side has no words: there is nothing to align." : state.figure === "table" ? "" : "Point at a cell or a word to read its weights.";
}

/* The arrows in a matrix that has the focus. */
function moveCell(number, event) {
  const panel = panels[number];
  const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!move || state.figure !== "matrix" || event.ctrlKey || event.metaKey || event.altKey) return;
  const { columns, rows } = panel.shown.matrix;
  const clamped = (value, count) => Math.min(Math.max(value, 0), count - 1);
  const cell = panel.cell ? { s: clamped((panel.cell.s ?? 0) + move[0], columns.length), t: clamped((panel.cell.t ?? 0) + move[1], rows.length) } : { s: 0, t: 0 };
  point(number, cell);
  keepInSight(panel.figure, panel.drawing.boxOf(cell));
  event.preventDefault();
  event.stopPropagation();
}

function keepInSight(scroller, { x, y, width, height, left, top }) {
  if (x - scroller.scrollLeft < left) scroller.scrollLeft = x - left;
  if (x + width > scroller.scrollLeft + scroller.clientWidth) scroller.scrollLeft = x + width - scroller.clientWidth;
  if (y - scroller.scrollTop < top) scroller.scrollTop = y - top;
  if (y + height > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = y + height - scroller.clientHeight;
}
