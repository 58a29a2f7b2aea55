/* The same numbers as a table, for screen readers and for copying. */
function tableFigure(figure) {
  const { matrix } = figure;
  const width = matrix.columns.length;
  const heading = (unit, scope) => element("th", { scope }, element("bdi", {}, visible(unit.label)));
  const cell = (s, t) => {
    const linked = figure.links.some((box) => covers(box, s, t));
    return element("td", { class: linked ? "link" : null }, decimals(matrix.values[t * width + s]), ...(linked ? [element("span", { title: "link" }, " •")] : []));
  };
  const table = element("table", {},
    element("caption", {}, `${figure.label}: source across, target down; • is a link`),
    element("thead", {}, element("tr", {}, element("td"), ...matrix.columns.map((unit) => heading(unit, "col")))),
    element("tbody", {}, ...matrix.rows.map((unit, t) => element("tr", {}, heading(unit, "row"), ...range(width).map((s) => cell(s, t))))),
  );
  return { table };
}
