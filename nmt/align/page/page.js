/* The page: what is shown of which sentence, the address, the keys. */
function start() {
  const names = exports.map((_, number) => exportName(number));
  document.title = byId("title").textContent = `Alignments: ${names.join(" and ")}`;
  byId("gold-label").hidden = !data.gold;
  byId("units").hidden = !sentences.some((sentence) => sentence.sides.some(hasPieces));
  byId("about").append(...about());
  byId("meanings").append(...meanings().flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
  buildListControls();
  listenToControls();
  recallTheme();
  refreshList();
  if (!canUnpack()) return warn("This browser cannot unpack the weights: it has no DecompressionStream. Chrome and Edge from 80, Firefox from 113 and Safari from 16.4 have it.");
  openFromAddress();
}

function warn(text) {
  byId("message").hidden = false;
  byId("message").textContent = text;
}

function about() {
  return exports.flatMap(({ header }, number) => [
    ...(compared ? [element("h3", {}, `${"AB"[number]}: ${exportName(number)}`)] : []),
    element("dl", {}, ...Object.entries(header).filter(([key]) => key !== "views").flatMap(([key, value]) => [
      element("dt", {}, key.replaceAll("_", " ")), element("dd", {}, typeof value === "string" ? value : JSON.stringify(value)),
    ])),
  ]);
}

/* Open a sentence. written: whether the address already says so. */
async function show(position, { written = false, late = false } = {}) {
  state.position = position;
  byId("message").hidden = true;
  const sentence = sentences[position];
  byId("line").textContent = "line " + sentence.line;
  byId("texts").replaceChildren(...texts(sentence));
  scrollToChosen();
  drawList();
  updateSteps();
  if (!written) writeAddress(late);
  await draw();
}

function texts(sentence) {
  const row = (name, text) => [element("dt", {}, name), element("dd", { dir: "auto" }, text || "(blank)")];
  const same = compared && sentence.sides[0].target === sentence.sides[1].target;
  const targets = compared && !same ? sentence.sides.flatMap((side, e) => row(`Target ${"AB"[e]}`, side.target)) : row("Target", sentence.sides[0].target);
  return [...row("Source", sentence.source), ...targets, ...(sentence.reference === null ? [] : row("Reference", sentence.reference))];
}

async function draw() {
  if (state.position < 0) return;
  try {
    await Promise.all(panels.map((_, number) => drawPanel(number)));
  } catch (error) {
    warn(`The weights of this sentence cannot be unpacked; the file may be damaged (${error.message}).`);
  }
}

/* The other export follows where it has the same view. */
async function chooseView(number, view) {
  state.views[number] = view;
  const wanted = JSON.stringify({ ...exports[number].views[view], label: "" });
  const other = 1 - number;
  if (number === 0 && compared) {
    const same = exports[other].views.findIndex((one) => JSON.stringify({ ...one, label: "" }) === wanted);
    if (same >= 0) state.views[other] = same;
  }
  refreshList();
  await draw();
}

function stepView(by) {
  const count = exports[0].views.length;
  if (count > 1) return chooseView(0, (state.views[0] + by + count) % count);
  if (compared && exports[1].views.length > 1) return chooseView(1, (state.views[1] + by + exports[1].views.length) % exports[1].views.length);
}

function step(by, late = false) {
  const place = order.indexOf(state.position);
  const next = place < 0 ? 0 : place + by;
  if (next >= 0 && next < order.length) show(order[next], { late });
}

function updateSteps() {
  const place = order.indexOf(state.position);
  byId("previous").disabled = place === 0 || !order.length;
  byId("next").disabled = place === order.length - 1;
}

/* Steps of a held key are written once, at their end: browsers refuse hundreds of entries in a row. */
let waiting = 0;

function writeAddress(late) {
  clearTimeout(waiting);
  const write = () => {
    const address = "#" + sentences[state.position].line;
    if (location.hash === "") history.replaceState(null, "", address);
    else if (location.hash !== address) history.pushState(null, "", address);
  };
  if (late) waiting = setTimeout(write, 250);
  else write();
}

function openFromAddress() {
  const wanted = location.hash.slice(1);
  const position = sentences.findIndex((sentence) => String(sentence.line) === wanted);
  if (position >= 0) show(position, { written: true });
  else if (state.position < 0 && sentences.length) show(order[0] ?? 0);
  if (wanted && position < 0) warn(`There is no line ${wanted} here.`);
}

function setFigure(figure) {
  state.figure = figure;
  document.querySelector(`[name=figure][value=${figure}]`).checked = true;
  return draw();
}

function setUnit(unit) {
  state.unit = unit;
  document.querySelector(`[name=unit][value=${unit}]`).checked = true;
  return draw();
}

function setLinks(links) {
  state.links = links;
  byId("threshold-label").hidden = links !== "threshold";
  return draw();
}

function recallTheme() {
  try {
    const kept = localStorage.getItem("nmt-theme");
    if (kept) document.documentElement.dataset.theme = kept;
  } catch { /* a browser that keeps nothing for local files */ }
}

function turnTheme() {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("nmt-theme", theme);
  } catch { /* as above */ }
  return draw();
}

function listenToControls() {
  for (const input of document.getElementsByName("figure")) input.addEventListener("change", () => setFigure(input.value));
  for (const input of document.getElementsByName("unit")) input.addEventListener("change", () => setUnit(input.value));
  byId("links").addEventListener("change", () => setLinks(byId("links").value));
  byId("threshold").addEventListener("input", () => {
    state.threshold = Number(byId("threshold").value);
    byId("threshold-value").textContent = decimals(state.threshold);
    draw();
  });
  for (const name of ["gold", "numbers"]) byId(name).addEventListener("change", () => { state[name] = byId(name).checked; draw(); });
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  byId("theme").addEventListener("click", turnTheme);
  byId("help").addEventListener("click", () => byId("help-box").showModal());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("hashchange", openFromAddress);
  addEventListener("keydown", onKey);
}

const KEYS = {
  j: (event) => step(1, event.repeat), k: (event) => step(-1, event.repeat), ArrowDown: (event) => step(1, event.repeat), ArrowUp: (event) => step(-1, event.repeat),
  ArrowRight: () => stepView(1), ArrowLeft: () => stepView(-1),
  Home: () => order.length && show(order[0]), End: () => order.length && show(order[order.length - 1]),
  "/": () => byId("search").focus(), "?": () => byId("help-box").showModal(),
  m: () => setFigure("matrix"), r: () => setFigure("ribbon"), t: () => setFigure("table"),
  p: () => byId("units").hidden || setUnit(state.unit === "words" ? "pieces" : "words"),
  g: () => byId("gold-label").hidden || byId("gold").click(), n: () => byId("numbers").click(), d: turnTheme,
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help-box").open) return;
  if (event.target.id === "search") return searchKey(event);
  if (event.key === "Escape") return document.activeElement.blur();
  if (event.target.matches("select, [type=number], [type=range]") || !Object.hasOwn(KEYS, event.key)) return;
  if (event.target.type === "radio" && event.key.startsWith("Arrow")) return;
  event.preventDefault();
  KEYS[event.key](event);
}

/* In the search field letters are text; up and down go through what is found. */
function searchKey(event) {
  if (event.key === "Escape") byId("search").blur();
  else if (event.key === "ArrowDown" || event.key === "ArrowUp") KEYS[event.key](event);
  else if (event.key === "Enter" && order.length) show(order[0]);
  else return;
  event.preventDefault();
}

start();
