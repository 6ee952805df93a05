// Draws an interval about a middle, for tables whose rows share one scale.
import { s } from "./dom.js";

// bar draws from one end to the other, both parts of the scale's own measure, about 0 in the
// middle; the scale is what half its width stands for. A band, where there is one, lies about
// the middle behind the bar. An arrow's head stands where the bar goes beyond.
export function bar(from, to, scale, band) {
  const x = (part) => 60 + 56 * Math.max(-1, Math.min(1, part / scale));
  const left = x(from), width = Math.max(1, x(to) - left);
  return s("svg", { class: "interval", viewBox: "0 0 120 16", width: 120, height: 16, "aria-hidden": "true" },
    band ? s("rect", { class: "ground", x: x(-band), width: x(band) - x(-band), y: 1, height: 14, rx: 1 }) : null,
    s("line", { class: "axis", x1: 4, x2: 116, y1: 8, y2: 8 }),
    s("rect", { class: "range", x: Math.min(left, 119 - width), width, y: 4, height: 8, rx: 1 }),
    from < -scale ? s("path", { class: "beyond", d: "M0 8l5-5v10z" }) : null,
    to > scale ? s("path", { class: "beyond", d: "M120 8l-5-5v10z" }) : null,
    s("line", { class: "middle", x1: 60, x2: 60, y1: 1, y2: 15 }));
}

// fraction draws a part of a whole, from the left.
export function fraction(part) {
  return s("svg", { class: "interval", viewBox: "0 0 120 16", width: 120, height: 16, "aria-hidden": "true" },
    s("rect", { class: "ground", x: 4, width: 112, y: 4, height: 8, rx: 1 }),
    s("rect", { class: "range", x: 4, width: Math.max(1, 112 * Math.min(1, part)), y: 4, height: 8, rx: 1 }));
}
