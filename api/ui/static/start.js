// The start: the form for a new run, and the list of runs with its filters.
import { badge, h, labels, renew, row, table, when } from "./dom.js";
import { ask, follow, kernels, sentence, suites } from "./service.js";
import { asked, several } from "./format.js";
import { form } from "./form.js";

const columns = [
  { name: "state", label: "State" }, { name: "run", label: "Run" }, { name: "asked", label: "Measures" },
  { name: "hosts", label: "Hosts" }, { name: "progress", label: "Progress" }, { name: "created", label: "Created" }, { name: "compare", label: "Compare" },
];

// The ids of the runs that are ticked to be compared, kept from one page of the list to the next.
const ticked = new Set();

// The filters of GET /v1/runs, by the names that they have there and in the page's address.
const filters = ["state", "suite", "kernel", "host", "label"];

// start gives the screen; with the form open when a new run was asked for.
export function start(open) {
  return async (place, query, signal) => {
    const heading = h("h1", {}, "Runs");
    const maker = h("details", { class: "card", open }, h("summary", {}, "New run"));
    const list = h("div"), pages = h("p", { class: "buttons" }), pair = h("div");
    place.append(heading, maker, filterBar(query), pair, list, pages);
    list.addEventListener("change", (event) => tick(event.target, pair));
    showPair(pair);
    const made = form({ from: query.get("from"), signal });
    const fill = () => made.then((element) => { if (!maker.contains(element)) maker.append(element); });
    if (open) fill().then(() => maker.querySelector("select")?.focus()).catch(() => {});
    maker.addEventListener("toggle", () => maker.open && fill().catch(() => {}));
    made.catch((e) => { if (!signal.aborted) maker.append(h("p", { class: "error" }, sentence(e.message))); });
    await follow(signal, () => look(list, pages, query, signal)).catch((e) => {
      // A filter that cannot be right is told where the list would be, and can be put right.
      if (!signal.aborted) list.replaceChildren(h("p", { class: "reason", role: "alert" }, sentence(e.message)));
    });
  };
}

// look asks for the page of runs that the address names and shows it.
async function look(list, pages, query, signal) {
  const page = await ask(`v1/runs?${wanted(query)}`, { signal });
  renew(list, page.runs, () => page.runs.length === 0
    ? h("p", {}, filters.some((f) => query.get(f)) ? "No run fits the filter." : "No run was posted yet.")
    : table("Runs, newest first", columns, page.runs.map(line)));
  renew(pages, page.next ?? "", () => [
    query.get("cursor") ? h("a", { class: "button", href: at(query, null) }, "Newest") : null,
    page.next ? h("a", { class: "button", href: at(query, page.next) }, "Older") : null]);
  return page.runs.some((r) => !r.finished) ? 2000 : 10000;
}

function line(run) {
  const p = run.progress;
  return row(columns, [
    badge(run.state),
    h("a", { href: `#/runs/${run.id}`, title: run.id }, `…${run.id.slice(-8)}`),
    [asked(run.spec), " ", labels(run.spec.labels), run.reason ? h("span", { class: "hint block" }, run.reason) : null],
    run.hosts.length ? run.hosts.join(", ") : h("span", { class: "hint" }, "none yet"),
    [run.finished ? null : h("progress", { max: 100, value: p.percent, "aria-label": "progress" }), ` ${p.done}/${p.total}`,
      p.eta ? h("span", { class: "hint" }, ` ${p.eta} left`) : null],
    when(run.created),
    run.finished ? h("input", { type: "checkbox", value: run.id, checked: ticked.has(run.id), "aria-label": `Compare run …${run.id.slice(-8)}` }) : ""]);
}

function tick(box, pair) {
  if (box.checked) ticked.add(box.value);
  else ticked.delete(box.value);
  showPair(pair);
}

// showPair offers to compare the runs that are ticked, once there are two: the older one is
// the base. Ids sort by time.
function showPair(pair) {
  const [base, head] = [...ticked].sort();
  renew(pair, [...ticked], () => ticked.size === 0 ? null : h("p", { class: "buttons", role: "status" },
    ticked.size === 2 ? h("a", { class: "button main", href: `#/compare?${new URLSearchParams({ base, head })}` }, `Compare …${base.slice(-8)} with …${head.slice(-8)}`)
      : h("span", { class: "hint" }, `${several(ticked.size, "run")} ticked; tick two to compare them.`),
    h("button", { type: "button", class: "quiet", onclick: () => untick(pair) }, "Untick")));
}

function untick(pair) {
  ticked.clear();
  for (const box of document.querySelectorAll("td input[type=checkbox]")) box.checked = false;
  showPair(pair);
  document.getElementById("main").focus({ preventScroll: true }); // the button is gone
}

// wanted makes the query of the API from that of the page.
function wanted(query) {
  const out = new URLSearchParams({ limit: "25" });
  for (const name of [...filters, "cursor"]) {
    const value = query.get(name);
    if (!value) continue;
    if (name === "label") value.split(",").map((v) => v.trim()).filter(Boolean).forEach((v) => out.append("label", v));
    else out.append(name, value);
  }
  return out;
}

function at(query, cursor) {
  const out = new URLSearchParams();
  for (const name of filters) if (query.get(name)) out.set(name, query.get(name));
  if (cursor) out.set("cursor", cursor);
  return `#/?${out}`;
}

// filterBar chooses which runs are listed. The choice stands in the address, so that it can
// be kept, sent to somebody, and left by going back.
function filterBar(query) {
  const states = document.getElementById("main").dataset.states.split(" ");
  const names = h("datalist", { id: "kernel-names" }), suiteNames = h("datalist", { id: "suite-names" });
  kernels().then((all) => names.append(...all.map((k) => h("option", { value: k.name })))).catch(() => {});
  suites().then((all) => suiteNames.append(...all.map((s) => h("option", { value: s.name })))).catch(() => {});
  const input = (name, hint, list) => h("input", { id: `filter-${name}`, name, value: query.get(name) ?? "", placeholder: hint, list, autocomplete: "off", spellcheck: "false" });
  const field = (name, label, control) => h("div", { class: "field" }, h("label", { for: `filter-${name}` }, label), control);
  const bar = h("form", { class: "filters", role: "search", "aria-label": "Filter the runs" },
    field("state", "State", h("select", { id: "filter-state", name: "state" }, h("option", { value: "" }, "any"),
      states.map((s) => h("option", { value: s, selected: query.get("state") === s }, s)))),
    field("suite", "Suite", input("suite", "any", "suite-names")), field("kernel", "Kernel", input("kernel", "any", "kernel-names")),
    field("host", "Host", input("host", "any")), field("label", "Labels", input("label", "name=value, …")),
    h("div", { class: "buttons" }, h("button", { type: "submit" }, "Filter"),
      filters.some((f) => query.get(f)) ? h("a", { class: "button", href: "#/" }, "Show all") : null),
    names, suiteNames);
  bar.addEventListener("submit", (event) => {
    event.preventDefault();
    location.hash = at(new URLSearchParams(new FormData(bar)), null);
  });
  bar.querySelector("select").addEventListener("change", () => bar.requestSubmit());
  return bar;
}
