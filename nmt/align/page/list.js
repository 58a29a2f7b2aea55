/* The list of sentences: search, filter, order; only the rows in sight are in the page. */
const sameTargets = sentences.every(({ sides }) => sides.every((side) => side.target === sides[0].target));
const ROW_HEIGHT = sameTargets ? 58 : 78;
let order = []; // positions in `sentences` that the list shows, in its order
const limitsOf = new Map(); // metric's key -> {least, most}, null where open
const wantedSigns = new Set(); // signs that a sentence must show
const metrics = listMetrics();

/* Each {key, label, of(sentence) -> number or null, digits}. Entropy and coverage are those of the view that is shown. */
function listMetrics() {
  const letters = compared ? [" A", " B"] : [""];
  const every = (key, label, of, digits = 2) => letters.map((letter, e) => ({ key: key + e, label: label + letter, of: (sentence) => of(sentence, e), digits }));
  const difference = (key, label) => compared
    ? [{ key, label: `${label} B − A`, digits: 2, of: ({ sides: [a, b] }) => (a[label.toLowerCase()] === null || b[label.toLowerCase()] === null ? null : b[label.toLowerCase()] - a[label.toLowerCase()]) }] : [];
  return [
    { key: "line", label: "line", of: (sentence) => sentence.line, digits: 0 },
    { key: "length", label: "length", of: (sentence) => sentence.words.length, digits: 0 },
    ...(data.bleu ? [...every("bleu", "BLEU", (sentence, e) => sentence.sides[e].bleu, 1), ...difference("bleu-difference", "BLEU")] : []),
    ...(data.gold ? [...every("aer", "AER", (sentence, e) => sentence.sides[e].aer), ...difference("aer-difference", "AER")] : []),
    ...every("entropy", "entropy", (sentence, e) => signsOf(sentence, e)[0]),
    ...every("coverage", "coverage", coverage),
    ...(compared ? [{ key: "agreement", label: "agreement", of: (sentence) => sentence.agreement, digits: 2 }] : []),
  ];
}

/* [entropy or null, words never read, words read again and again, rows near uniform] of the view that is shown. */
function signsOf(sentence, e) {
  return sentence.sides[e].signs[state.views[e]];
}

function coverage(sentence, e) {
  const words = sentence.words.length;
  return words && sentence.sides[e].words.length ? (words - signsOf(sentence, e)[1]) / words : null;
}

function metricText(metric, sentence) {
  const value = metric.of(sentence);
  return value === null ? "–" : value.toFixed(metric.digits);
}

function searchedText(sentence) {
  sentence.searched ??= fold([sentence.source, ...sentence.sides.map((side) => side.target)].join("\n"));
  return sentence.searched;
}

function refreshList() {
  const wanted = fold(byId("search").value.trim());
  const metric = metrics.find((one) => one.key === byId("sort").value);
  const sign = state.descending ? -1 : 1;
  order = range(sentences.length).filter((position) => isWanted(sentences[position], wanted));
  order.sort((a, b) => compareValues(metric.of(sentences[a]), metric.of(sentences[b]), sign) || a - b);
  byId("count").textContent = order.length === sentences.length ? `${counted(order.length)}` : `${order.length} of ${counted(sentences.length)}`;
  const active = limitsOf.size + wantedSigns.size;
  byId("filter").textContent = active ? `Filter (${active})` : "Filter";
  byId("filter").classList.toggle("active", active > 0);
  drawList();
  updateSteps();
}

function counted(number) {
  return number === 1 ? "1 sentence" : `${number} sentences`;
}

/* What has no value comes last, either way round. */
function compareValues(a, b, sign) {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return sign * (a - b);
}

function isWanted(sentence, wanted) {
  if (wanted && !searchedText(sentence).includes(wanted)) return false;
  for (const metric of metrics) {
    const limit = limitsOf.get(metric.key);
    if (!limit) continue;
    const value = metric.of(sentence);
    if (value === null || (limit.least !== null && value < limit.least) || (limit.most !== null && value > limit.most)) return false;
  }
  return [...wantedSigns].every((sign) => sentence.sides.some((_, e) => signsOf(sentence, e)[sign] > 0));
}

function drawList() {
  const list = byId("list");
  const first = Math.max(0, Math.floor(list.scrollTop / ROW_HEIGHT) - 4);
  const last = Math.min(order.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW_HEIGHT) + 4);
  byId("rows").style.height = order.length * ROW_HEIGHT + "px";
  byId("rows").replaceChildren(...order.slice(first, last).map((position, i) => listRow(sentences[position], first + i)));
  const place = order.indexOf(state.position);
  if (place >= first && place < last) list.setAttribute("aria-activedescendant", "row-" + state.position);
  else list.removeAttribute("aria-activedescendant");
}

function listRow(sentence, place) {
  const metric = metrics.find((one) => one.key === byId("sort").value);
  const chosen = sentence.position === state.position;
  const text = (words, kind) => element("span", { class: `text ${kind}`, dir: "auto", title: words }, words || "(blank)");
  const row = element("div", {
    class: "row", role: "option", id: "row-" + sentence.position, "aria-selected": String(chosen), "aria-setsize": order.length, "aria-posinset": place + 1,
    style: `top: ${place * ROW_HEIGHT}px; height: ${ROW_HEIGHT}px`,
  },
    element("span", { class: "number" }, sentence.line), text(sentence.source, "source"),
    ...sentence.sides.slice(0, sameTargets ? 1 : 2).map((side) => text(side.target, "target")),
    ...(metric.key === "line" ? [] : [element("span", { class: "value", title: metric.label }, metricText(metric, sentence))]),
    element("span", { class: "marks", "aria-hidden": "true" }, marks(sentence)),
  );
  row.dataset.position = sentence.position;
  return row;
}

function marks(sentence) {
  return Object.values(SIGNS).filter((_, i) => sentence.sides.some((_, e) => signsOf(sentence, e)[i + 1] > 0)).join("");
}

function scrollToChosen() {
  const [list, place] = [byId("list"), order.indexOf(state.position)];
  if (place < 0) return;
  const top = place * ROW_HEIGHT;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW_HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW_HEIGHT - list.clientHeight;
}

function buildListControls() {
  byId("sort").append(...metrics.map((metric) => element("option", { value: metric.key }, `by ${metric.label}`)));
  const filters = byId("filters");
  filters.append(...metrics.map(rangeFields));
  Object.values(SIGNS).forEach((sign, i) => filters.append(signField(sign, i + 1)));
  filters.append(element("button", { type: "reset" }, "Reset"));
  filters.addEventListener("reset", () => {
    limitsOf.clear();
    wantedSigns.clear();
    refreshList();
  });
  filters.addEventListener("submit", (event) => event.preventDefault());
  byId("search").addEventListener("input", refreshList);
  byId("sort").addEventListener("change", refreshList);
  byId("direction").addEventListener("click", () => {
    state.descending = !state.descending;
    byId("direction").textContent = state.descending ? "↓" : "↑";
    byId("direction").setAttribute("aria-label", state.descending ? "Largest first" : "Smallest first");
    refreshList();
  });
  byId("filter").addEventListener("click", () => {
    filters.hidden = !filters.hidden;
    byId("filter").setAttribute("aria-expanded", String(!filters.hidden));
  });
  byId("list").addEventListener("scroll", drawList, { passive: true });
  byId("list").addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (row) show(Number(row.dataset.position));
  });
  addEventListener("resize", drawList);
}

function rangeFields(metric) {
  const field = (end, text) => {
    const made = element("input", { type: "number", step: "any", placeholder: text, "aria-label": `${metric.label}, ${end}`, name: `${metric.key}-${end}` });
    made.addEventListener("input", () => setLimit(metric.key, end, made.value === "" ? null : Number(made.value)));
    return made;
  };
  return element("fieldset", {}, element("legend", {}, metric.label), field("least", "from"), field("most", "to"));
}

function setLimit(key, end, value) {
  const limit = { least: null, most: null, ...limitsOf.get(key), [end]: value };
  if (limit.least === null && limit.most === null) limitsOf.delete(key);
  else limitsOf.set(key, limit);
  refreshList();
}

function signField(sign, number) {
  const text = ["words never read", "words read again and again", "rows near uniform"][number - 1];
  const box = element("input", { type: "checkbox", name: `sign-${number}` });
  box.addEventListener("change", () => {
    if (box.checked) wantedSigns.add(number);
    else wantedSigns.delete(number);
    refreshList();
  });
  return element("label", {}, box, ` ${sign} ${text}`);
}
