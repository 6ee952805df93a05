// The fields of the form: each with its label, its hint, and a place for what is wrong with it.
import { h } from "./dom.js";

let count = 0;

// A field is {element, label, control, complain(text)}; complain("") takes a complaint back.

// field wraps one control.
export function field(label, hint, control) {
  const id = control.id || `f${++count}`;
  const error = h("span", { class: "error", id: `${id}-error` });
  control.id = id;
  control.setAttribute("aria-describedby", `${id}-hint ${id}-error`);
  const element = h("div", { class: "field" }, h("label", { for: id }, label), control, h("span", { class: "hint", id: `${id}-hint` }, hint), error);
  return { element, label, control, complain: complainer(error, [control]) };
}

// found takes a field that stands in the shell already.
export function found(element) {
  const control = element.querySelector("input, select");
  return { element, label: element.querySelector("label").textContent, control, complain: complainer(element.querySelector(".error"), [control]) };
}

// choices makes a group of check boxes, one for each value.
export function choices(label, hint, values, chosen) {
  const id = `f${++count}`;
  const error = h("span", { class: "error", id: `${id}-error` });
  const boxes = values.map((v) => h("input", { type: "checkbox", value: v, checked: chosen.includes(v) }));
  const element = h("fieldset", { class: "field choices", "aria-describedby": `${id}-hint ${id}-error` }, h("legend", {}, label),
    h("div", { class: "options" }, boxes.map((box) => h("label", {}, box, box.value))),
    h("span", { class: "hint", id: `${id}-hint` }, hint), error);
  return { element, label, control: boxes[0] ?? element, chosen: () => boxes.filter((b) => b.checked).map((b) => b.value), complain: complainer(error, boxes) };
}

function complainer(place, controls) {
  return (text) => {
    if (place.textContent !== text) place.textContent = text;
    for (const c of controls) {
      if (text) c.setAttribute("aria-invalid", "true");
      else c.removeAttribute("aria-invalid");
    }
  };
}

// pairs reads "name=value" texts, one on each line. What cannot be read becomes a complaint,
// since only this page knows how such a text is written.
export function pairs(text) {
  const map = {};
  for (const line of text.split("\n").map((l) => l.trim()).filter(Boolean)) {
    const at = line.indexOf("=");
    if (at < 1) return { map, wrong: `“${line}” is not written name=value.` };
    const name = line.slice(0, at).trim();
    if (Object.hasOwn(map, name)) return { map, wrong: `The name “${name}” stands twice.` };
    Object.defineProperty(map, name, { value: line.slice(at + 1).trim(), enumerable: true, configurable: true, writable: true });
  }
  return { map, wrong: "" };
}

// unpairs writes a map as pairs reads it.
export function unpairs(map) {
  return Object.entries(map ?? {}).map(([name, value]) => `${name}=${value}`).join("\n");
}

// plain gives the JSON value of a parameter's text, as the service writes it: whole numbers
// and bools plainly, the rest as strings.
export function plain(text) {
  if (/^(0|-?[1-9]\d{0,14})$/.test(text)) return Number(text);
  return text === "true" || text === "false" ? text === "true" : text;
}

// typed gives the JSON value of a plan's text by the kind of its field, or the text itself
// where it cannot be one: the service says better what is wrong with it. A share may be
// written in percent, and "none" asks for none.
export function typed(kind, text) {
  if (kind === "text") return text;
  if (kind === "bool") return text === "true" || text === "false" ? text === "true" : text;
  if (kind === "share" && text === "none") return null;
  const percent = kind === "share" && text.endsWith("%");
  const figure = percent ? text.slice(0, -1).trim() : text;
  if (figure === "" || !Number.isFinite(Number(figure))) return text;
  return percent ? Number((Number(figure) / 100).toPrecision(12)) : Number(figure);
}

// untyped writes a value as typed reads it.
export function untyped(value) {
  return value === null ? "none" : value ?? "";
}
