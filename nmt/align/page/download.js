/* The shown figure as a file: SVG as it stands, PNG at twice its size. */
async function saveFigure(kind, svg, name) {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n` + new XMLSerializer().serializeToString(svg);
  if (kind === "svg") save(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`);
  else save(await painted(text, Number(svg.getAttribute("width")), Number(svg.getAttribute("height"))), `${name}.png`);
}

const MOST_PIXELS = 16384; // of a side of a canvas, in today's browsers

async function painted(text, width, height) {
  const scale = Math.min(2, MOST_PIXELS / Math.max(width, height));
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  await image.decode();
  const canvas = element("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function save(blob, name) {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: name.replace(/[^\p{L}\p{N}._-]+/gu, "_") }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
