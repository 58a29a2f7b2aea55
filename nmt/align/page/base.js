/* Small tools. All text enters the page as text: nothing here reads HTML. */
"use strict";
const EOS = "</s>";
const SVG = "http://www.w3.org/2000/svg";

function byId(id) {
  return document.getElementById(id);
}

function fill(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function drawn(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fold(text) {
  return text.normalize("NFKC").toLowerCase();
}

function range(count) {
  return [...Array(count).keys()];
}

/* Whether text begins, its first letter says, with one that is written from right to left. */
function isRightToLeft(text) {
  const first = text.match(/\p{L}/u);
  return first !== null && /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(first[0]);
}

/* A label that can be seen and stored in SVG: no text is a dot, a space a bracket, control characters their pictures. */
function visible(label) {
  if (label === "") return "·";
  return label
    .replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\u007f-\u009f\u2028\u2029\ufffe\uffff]/g, "\ufffd")
    .replace(/^ +$/, (blanks) => "␣".repeat(blanks.length));
}

function shortened(label, most = 24) {
  const characters = [...label];
  return characters.length > most ? characters.slice(0, most - 1).join("") + "…" : label;
}

/* Two decimals, and no minus before a zero. */
function decimals(value) {
  const text = value.toFixed(2);
  return text === "-0.00" ? "0.00" : text;
}

function pause(milliseconds) {
  return new Promise((done) => setTimeout(done, milliseconds));
}
