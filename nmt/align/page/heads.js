/* All layers and heads of a method at a glance, each a small picture that is a button. */
async function headPictures(sentence, number, shown, choose) {
  const views = exports[number].views;
  const family = range(views.length).filter((v) => familyOf(views[v]) === familyOf(views[shown]));
  const layers = distinct(family.map((v) => views[v].layer));
  const heads = distinct(family.map((v) => views[v].head));
  const grid = element("div", { class: "grid", style: `grid-template-columns: auto repeat(${heads.length}, auto)` },
    element("span"), ...heads.map((head) => element("span", {}, headName(head))));
  for (const layer of layers) {
    grid.append(element("span", {}, `layer ${layer}`));
    for (const head of heads) {
      const view = family.find((v) => views[v].layer === layer && views[v].head === head);
      grid.append(view === undefined ? element("span") : await headButton(sentence, number, view, view === shown, choose));
    }
  }
  return grid;
}

async function headButton(sentence, number, view, pressed, choose) {
  const label = exports[number].views[view].label;
  const matrix = await readMatrix(sentence, number, view, "words");
  const button = element("button", { type: "button", title: label, "aria-label": label, "aria-pressed": String(pressed), "data-view": view }, thumbnail(matrix));
  button.addEventListener("click", () => choose(view));
  return button;
}

function thumbnail(matrix) {
  const [width, height] = [matrix.columns.length, matrix.rows.length];
  const canvas = element("canvas", { width, height, style: `width: 62px; height: ${Math.round(Math.min(Math.max((62 * height) / width, 24), 110))}px` });
  const picture = new ImageData(width, height);
  const theme = palette();
  matrix.values.forEach((value, i) => {
    const colour = shade(theme, value / matrix.peak);
    picture.data.set([1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)).concat(255), 4 * i);
  });
  canvas.getContext("2d").putImageData(picture, 0, 0);
  return canvas;
}

function distinct(values) {
  return [...new Set(values)];
}

/* What is of one method, read in one way: it differs in layer and head alone. */
function familyOf(view) {
  return JSON.stringify([view.method, view.raw, view.shift]);
}

function headName(head) {
  return head === null ? "mean" : `head ${head}`;
}
