/* Warnings of a sentence: what its matrix over words shows without any gold. nmt/align/signs.py has the same rules. */
const SIGNS = { unread: "∅", repeated: "↻", uniform: "≈" };
const limits = data.limits;

/* {unread: Map word -> sum, repeated: the same, uniform: Map target word -> share of the largest entropy}. */
function signs(matrix) {
  const [width, height] = [matrix.columns.length, matrix.rows.length];
  const found = { unread: new Map(), repeated: new Map(), uniform: new Map() };
  if (width < 2 || height < 2) return found;
  const read = new Float64Array(width);
  for (let t = 0; t < height - 1; t++) {
    const shares = shareOut(matrix.values.subarray(t * width, (t + 1) * width));
    shares.forEach((share, s) => { read[s] += share; });
    const spread = entropy(shares) / Math.log(width);
    if (width > 2 && spread >= limits.uniform) found.uniform.set(t, spread);
  }
  for (let s = 0; s < width - 1; s++) {
    if (read[s] < limits.unread) found.unread.set(s, read[s]);
    if (read[s] >= limits.repeated) found.repeated.set(s, read[s]);
  }
  return found;
}

function shareOut(row) {
  const sum = row.reduce((total, value) => total + Math.abs(value), 0);
  return row.map((value) => (sum ? Math.abs(value) / sum : 0));
}

function entropy(shares) {
  return -shares.reduce((total, share) => total + (share > 0 ? share * Math.log(share) : 0), 0);
}

function columnSign(found, column) {
  if (column.eos) return "";
  return found.unread.has(column.word) ? SIGNS.unread : found.repeated.has(column.word) ? SIGNS.repeated : "";
}

function rowSign(found, row) {
  return !row.eos && found.uniform.has(row.word) ? SIGNS.uniform : "";
}

function warningList(sentence, side, found) {
  const list = (words, map) => [...map].flatMap(([word, value], i) => [i ? ", " : "", element("bdi", {}, words[word]), ` (${decimals(value)})`]);
  const line = (sign, text, words, map) => map.size ? [element("li", {}, element("b", {}, `${sign} ${text}: `), ...list(words, map))] : [];
  return element("ul", { class: "warnings", "aria-label": "Warnings" },
    ...line(SIGNS.unread, "never read", sentence.words, found.unread),
    ...line(SIGNS.repeated, "read again and again", sentence.words, found.repeated),
    ...line(SIGNS.uniform, "near uniform", side.words, found.uniform),
  );
}

function meanings() {
  return [
    [`${SIGNS.unread} never read`, `a source word whose shares, summed over the target words, stay under ${limits.unread}`],
    [`${SIGNS.repeated} again and again`, `a source word whose shares come to ${limits.repeated} or more`],
    [`${SIGNS.uniform} near uniform`, `a target word whose entropy is at least ${limits.uniform} of that of a uniform row`],
    ["share", "a weight's size divided by the sum of its row's; these are of words, whatever the figure shows, and leave out the row of the target's </s>"],
    ["entropy", "mean over the target words of -Σ share ln share, in nats; 0 where each reads one word alone"],
    ["coverage", "share of the source words that are not ∅"],
    ["agreement", "2 |A ∩ B| / (|A| + |B|) of the two exports' links, where both have the same target"],
    ["BLEU", "sentence BLEU of sacrebleu (effective order) against the reference"],
    ["AER", "alignment error rate of the export's links against gold; less is better"],
    ["numbers", "weights are stored in steps of 1/255, signed values in 65,535 steps of the matrix's range"],
  ];
}
