// Makes elements. Every text goes in as a text node, so nothing that comes from the service
// is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

// h makes an HTML element. An attribute that is a function listens to the event of its name
// ("onclick"); true stands for an attribute without a value, and null and false for none.
// Children are nodes, texts, lists of them, or null.
export function h(tag, attributes, ...children) {
  return fill(set(document.createElement(tag), attributes), children);
}

// s makes an SVG element in the same way.
export function s(tag, attributes, ...children) {
  return fill(set(document.createElementNS(SVG, tag), attributes), children);
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  return element;
}

function fill(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

// renew gives an element new children when what they are made of has changed, and otherwise
// leaves them alone with their focus, their selection and whatever was opened in them.
const made = new WeakMap();
export function renew(element, source, build) {
  const key = JSON.stringify(source);
  if (made.get(element) === key) return;
  made.set(element, key);
  element.replaceChildren();
  fill(element, [build()]);
}

// table makes a table that folds into one card a row where the window is narrow. Columns are
// {name, label, numeric}; rows come from row(). The roles say that it is a table even when
// the style sheet shows it as blocks.
export function table(label, columns, rows) {
  const head = columns.map((c) => h("th", { scope: "col", role: "columnheader", class: c.numeric ? "numeric" : null }, c.label));
  return h("div", { class: "scroll" }, h("table", { role: "table", "aria-label": label },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, head)),
    h("tbody", { role: "rowgroup" }, rows)));
}

// row makes one row of such a table: cells in the order of the columns.
export function row(columns, cells, attributes) {
  return h("tr", { role: "row", ...attributes }, columns.map((c, i) => {
    const empty = cells[i] === "" || cells[i] === null || cells[i] === undefined;
    const classes = [c.numeric ? "numeric" : "", empty ? "empty" : ""].join(" ").trim();
    return h("td", { role: "cell", "data-label": c.label, class: classes || null }, h("div", { class: "cell" }, cells[i]));
  }));
}

// beneath makes a row that says more of the one above it, over all columns.
export function beneath(columns, child, attributes) {
  return h("tr", { role: "row", class: "notes", ...attributes }, h("td", { role: "cell", colspan: columns.length }, child));
}

// facts makes a list of names and values; a value of null shows why it is not known.
export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.map(([name, value, reason]) => h("div", {},
    h("dt", {}, name),
    h("dd", {}, value ?? h("span", { class: "hint" }, reason ? `unknown: ${reason}` : "unknown")))));
}

// badge shows a state as a word with a mark; the colour only repeats the word.
export function badge(state) {
  return h("span", { class: `badge ${state}` }, state);
}

// when shows a time in the reader's own zone; the element holds the exact one.
export function when(time) {
  if (!time) return null;
  const d = new Date(time);
  const two = (n) => String(n).padStart(2, "0");
  const text = `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
  return h("time", { datetime: time, title: d.toISOString() }, text);
}

// labels shows labels, each as name=value.
export function labels(map) {
  return Object.entries(map ?? {}).sort().map(([name, value]) => h("span", { class: "label" }, `${name}=${value}`));
}

// say tells those who listen to the page instead of looking at it.
export function say(text) {
  document.getElementById("said").textContent = text;
}

// trouble shows, above the page, what keeps it from being up to date; "" takes it away.
export function trouble(text) {
  const place = document.getElementById("trouble");
  if (place.textContent !== text) place.textContent = text;
  place.hidden = text === "";
}
