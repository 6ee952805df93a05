// Two runs compared: what the service found of the whole, and of each case that both have.
import { badge, beneath, facts, h, labels, row, say, table, when } from "./dom.js";
import { bar } from "./bar.js";
import { field } from "./field.js";
import { change, number, params, probability, share } from "./format.js";
import { ask, sentence } from "./service.js";

const columns = [
  { name: "verdict", label: "Verdict" }, { name: "case", label: "Case" }, { name: "base", label: "Base", numeric: true }, { name: "head", label: "Head", numeric: true },
  { name: "unit", label: "Unit" }, { name: "change", label: "Change" }, { name: "p", label: "Adjusted p", numeric: true }, { name: "threshold", label: "Threshold", numeric: true },
];

// What calls for action stands first.
const order = ["worse", "better", "undecided", "incomparable", "same"];

// compare shows the comparison that the address asks for; whatever else of the service's
// parameters stands in it is asked for too.
export async function compare(place, query, signal) {
  const base = input("base", "the run that is compared with"), head = input("head", "the run that is compared");
  const found = h("div", { class: "found" });
  const form = h("form", { class: "filters pair", "aria-label": "Choose two runs", novalidate: true }, base.element, head.element,
    h("div", { class: "buttons" }, h("button", { type: "submit" }, "Compare"), h("button", { type: "button", class: "quiet", onclick: () => go(query, head, base) }, "Swap")));
  base.control.value = query.get("base") ?? "";
  head.control.value = query.get("head") ?? "";
  form.addEventListener("submit", (event) => { event.preventDefault(); go(query, base, head); });
  place.append(h("h1", {}, "Comparison"), form, found);
  if (!query.get("base") && !query.get("head")) return;
  try {
    const c = await ask(`v1/compare?${query}`, { signal });
    found.append(...comparison(c));
    say(`The comparison: ${c.verdict}.`);
  } catch (e) {
    if (signal.aborted) return;
    found.append(h("p", { class: "reason", role: "alert" }, sentence(e.message)));
    for (const wrong of e.errors ?? []) ({ base, head })[wrong.parameter]?.complain(sentence(wrong.message));
  }
}

function input(name, hint) {
  return field(name === "base" ? "Base" : "Head", hint, h("input", { id: `compare-${name}`, name, class: "run", autocomplete: "off", spellcheck: "false", placeholder: "id of a run" }));
}

function go(query, base, head) {
  const next = new URLSearchParams(query);
  next.set("base", base.control.value.trim());
  next.set("head", head.control.value.trim());
  location.hash = `#/compare?${next}`;
}

// comparison shows the whole, then the cases.
function comparison(c) {
  const cases = [...c.cases].sort((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict));
  const scale = scaleOf(cases);
  const rules = c.settings;
  return [
    h("p", { class: "verdict" }, badge(c.verdict), " ", sentence(c.reason), c.speed ? ` ${speed(c.speed)}` : ""),
    facts([["base", ref(c.base)], ["head", ref(c.head)]]),
    cases.length ? table("Cases of both runs", columns, cases.flatMap((one) => caseRows(one, scale))) : null,
    h("p", { class: "hint" }, `A case is better or worse when its change is no chance, at ${share(rules.q)} false alarms over all cases, and larger than its threshold: ${share(rules.min_effect)}, or the noise of the case on its host where that is more; ${share(rules.default_floor)} stand in for a noise that was never measured. `,
      cases.some((one) => one.low !== null) ? `The interval is that of the change at ${share(rules.confidence, 4)} confidence; its bar spans ±${share(scale)} about no change, before a band of the threshold.` : "",
      rules.across?.length ? ` These facts were meant to differ: ${rules.across.join(", ")}.` : ""),
    only("base", c.only_base), only("head", c.only_head),
  ].filter(Boolean);
}

// speed tells of all cases together.
function speed(s) {
  const between = s.low === null || s.high === null ? "" : ` (${change(s.low)} to ${change(s.high)})`;
  return `Speed of the cases that could be compared, taken together: ${change(s.change)}${between}.`;
}

function ref(run) {
  return [h("a", { href: `#/runs/${run.id}` }, `run …${run.id.slice(-8)}`), " ", badge(run.state), " ", when(run.created), " ", labels(run.labels)];
}

// scaleOf chooses what the bars span, as on a result: a round figure, 25 % at most.
function scaleOf(cases) {
  const widest = Math.max(0, ...cases.flatMap((c) => [c.low, c.high, c.threshold].map((v) => Math.abs(v ?? 0))));
  return [0.02, 0.05, 0.1].find((round) => widest <= round) ?? 0.25;
}

function caseRows(c, scale) {
  const host = c.base_host ? `${c.base_host}, then ${c.host}` : c.host;
  return [row(columns, [
    badge(c.verdict), [c.kernel, " ", params(c.params), h("span", { class: "hint block" }, `on ${host}`)], number(c.base.value), number(c.head.value),
    [c.unit, c.better === "lower" ? h("span", { class: "hint block" }, "less is better") : null], changeCell(c, scale), probability(c.adjusted_p),
    c.threshold === null ? "" : [share(c.threshold), c.noise ? null : h("span", { class: "hint block" }, "noise unknown")],
  ], { class: "noted" }), beneath(columns, h("div", { class: "why" }, remarks(c).map((text) => h("p", {}, text))))];
}

function changeCell(c, scale) {
  if (c.change === null) return h("span", { class: "hint" }, "unknown");
  if (c.low === null || c.high === null) return [change(c.change), h("span", { class: "hint" }, " interval unknown")];
  return h("div", { class: "drawn" }, bar(c.low, c.high, scale, c.threshold), h("span", { class: "figures" }, `${change(c.change)} (${change(c.low)} to ${change(c.high)})`));
}

// remarks tell how the verdict came about, and what the two sides do not share.
function remarks(c) {
  // What keeps the two from being compared stands in the reason already.
  const more = c.verdict === "incomparable" ? c.differs.filter((d) => !d.excluded) : c.differs;
  const differs = more.map((d) => `${d.fact} (${d.base || "none"}, then ${d.head || "none"})`);
  return [sentence(c.reason), ...(differs.length ? [`Facts that differ: ${differs.join(", ")}.`] : [])];
}

function only(side, list) {
  if (list.length === 0) return null;
  return h("details", {}, h("summary", {}, `In the ${side} only: ${list.length}`), h("ul", {}, list.map((r) => h("li", {}, `${r.kernel} ${params(r.params)} on ${r.host}`))));
}
