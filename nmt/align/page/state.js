/* What is shown now. views: of each export the number of its view. */
const state = {
  position: -1, views: exports.map(() => 0), unit: "words", figure: "matrix", links: "stored", threshold: 0.3, gold: true, numbers: true, descending: false,
};
