/* Colours in even steps: a straight line in Oklab (Ottosson 2020), from nothing to one, and to minus one. */
const THEMES = {
  light: {
    page: "#ffffff", ink: "#1b1f26", faint: "#5f6979", line: "#dfe3e8", none: "#ffffff", full: "#0b2f73", minus: "#8a2a06",
    onFull: "#ffffff", link: "#e8590c", gold: "#0a8f4d", hit: "#1f5fbf", warn: "#a33b00",
  },
  dark: {
    page: "#14171c", ink: "#e4e8ee", faint: "#9aa6b6", line: "#313844", none: "#1b1f26", full: "#a9cbff", minus: "#ffb48a",
    onFull: "#0d1626", link: "#ff9a3d", gold: "#4fd08b", hit: "#7fb0ff", warn: "#ffb27a",
  },
};
const LEVELS = 64;
for (const theme of Object.values(THEMES)) {
  theme.plusSteps = steps(theme.none, theme.full);
  theme.minusSteps = steps(theme.none, theme.minus);
  theme.inkOn = new Map([...theme.plusSteps, ...theme.minusSteps].map((colour) => [colour, inkOn(colour, [theme.ink, theme.onFull, "#000000", "#ffffff"])]));
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function palette() {
  return isDark() ? THEMES.dark : THEMES.light;
}

/* share: of the peak, -1 to 1. */
function shade(theme, share) {
  const steps = share < 0 ? theme.minusSteps : theme.plusSteps;
  return steps[Math.min(LEVELS, Math.round(Math.abs(share) * LEVELS))];
}

/* The first ink that stands out from the ground by 4.5, WCAG's least contrast of text; of black and white one does. */
function inkOn(ground, inks) {
  return inks.find((ink) => contrast(ground, ink) >= 4.5);
}

function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour) {
  const [r, g, b] = linearChannels(colour);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function linearChannels(colour) {
  return [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16) / 255).map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
}

function steps(from, to) {
  const [a, b] = [oklab(from), oklab(to)];
  return range(LEVELS + 1).map((i) => hexadecimal(a.map((x, k) => x + ((b[k] - x) * i) / LEVELS)));
}

function oklab(colour) {
  const [r, g, b] = linearChannels(colour);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function hexadecimal([L, a, b]) {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const channel = (x) => Math.round(255 * (x <= 0.0031308 ? 12.92 * Math.max(x, 0) : 1.055 * Math.min(x, 1) ** (1 / 2.4) - 0.055));
  return "#" + linear.map((x) => channel(x).toString(16).padStart(2, "0")).join("");
}
