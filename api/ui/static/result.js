// The result of a run: a table of scores, each with its interval and its raw samples drawn,
// and beneath each whatever is to be known before it is believed.
import { badge, beneath, facts, h, row, s, table } from "./dom.js";
import { bar } from "./bar.js";
import { compositeFigures, figures } from "./figures.js";
import { bounds, interval, latency, number, params, several, share } from "./format.js";
import { readings, snapshotFacts } from "./hosts.js";
import { ramp } from "./ramp.js";
import { sentence } from "./service.js";

// result shows a whole result.
export function result(r) {
  const hosts = Object.keys(r.hosts ?? {}).sort();
  const scale = scaleOf([...r.trials.map((t) => t.score), ...r.composites]);
  const columns = layout(hosts.length > 1);
  const rows = [...r.trials.flatMap((t) => trialRows(columns, t, scale, r.spec.repeat > 1)), ...r.composites.flatMap((c) => compositeRows(columns, c, scale))];
  const doubtful = r.trials.filter((t) => t.score && !t.validity.valid).length;
  return [
    h("h2", {}, "Scores"),
    doubtful ? h("p", { class: "doubt" }, doubtful === 1 ? "One trial is doubtful: see the sentences beneath it." : `${doubtful} trials are doubtful: see the sentences beneath them.`) : null,
    table("Scores", columns, rows),
    h("p", { class: "hint" }, legend(r.spec.plan, scale, r.trials.some((t) => t.series))),
    hosts.length ? h("h2", {}, "Hosts") : null,
    hosts.map((name) => host(name, r.hosts[name])),
  ];
}

// legend says what the figures and drawings are, which the plan decides.
function legend(plan, scale, ramped) {
  const centre = plan.interval === "pooled_t" ? "the mean of n samples, by Student’s t," : "the median of n samples, by a bootstrap over forks and their slices,";
  const counted = plan.warmup === "auto" ? "from where the fork was steady on, or all where it never was" : `without the warm-up of ${plan.warmup}`;
  return [`The interval is that of ${centre} at ${share(plan.confidence, 4)} confidence; its bar spans ±${share(scale)} about the score. `,
    `The dots are the raw samples that the score is made of, in the order measured, a strip for each fork: ${counted}. `,
    ramped ? "Those of a ramp are the samples of all its steps. " : "",
    "A strip is as high as the range of the trial's samples, or 2 % of the score if that is more, and its line is the score."];
}

// scaleOf chooses what the bars span: a round figure that holds the widest interval, but 1 %
// at least, so that a tight one looks tight, and 25 % at most, so that one bad row does not
// flatten the others.
function scaleOf(scores) {
  const widths = scores.map(bounds).filter(Boolean).map((b) => Math.max(b.down, b.up));
  const widest = Math.max(0, ...widths);
  return [0.01, 0.02, 0.05, 0.1].find((round) => widest <= round) ?? 0.25;
}

function layout(hosts) {
  return [
    { name: "kernel", label: "Kernel" }, { name: "params", label: "Parameters" }, ...(hosts ? [{ name: "host", label: "Host" }] : []),
    { name: "score", label: "Score", numeric: true }, { name: "unit", label: "Unit" }, { name: "interval", label: "Interval" },
    { name: "n", label: "n", numeric: true }, { name: "steady", label: "Steady" }, { name: "samples", label: "Samples" },
    { name: "p50", label: "p50", numeric: true }, { name: "p99", label: "p99", numeric: true }, { name: "more", label: "Further" },
  ];
}

function trialRows(columns, t, scale, repeated) {
  const score = t.score;
  const cells = {
    kernel: t.kernel, params: [params(t.params), repeated ? h("span", { class: "hint block" }, `repeat ${t.repeat}`) : null], host: t.host,
    score: score ? h("strong", {}, number(score.value)) : badge(t.state), unit: score?.unit, interval: score ? intervalCell(score, scale) : "",
    n: score ? String(score.n) : "", steady: steadyCell(t.steady), samples: strips(t), p50: latency(t.latency?.percentiles["50"]), p99: latency(t.latency?.percentiles["99"]),
  };
  const told = notes(t);
  const steps = t.series ? beneath(columns, ramp(t.series, `${t.kernel} ${params(t.params)}`)) : null;
  const noted = told.length ? beneath(columns, h("ul", { class: "doubts" }, told.map((n) => h("li", {}, n)))) : null;
  return [...opening(columns, cells, t.forks.length ? `${t.kernel} ${params(t.params)}` : "", () => figures(t), { class: noted || steps ? "noted" : null }), noted, steps];
}

// opening makes a row with a button that shows the row beneath it, and that row; where there
// is no name for what is shown there is neither.
function opening(columns, cells, name, pairs, attributes) {
  const place = h("div"), further = beneath(columns, place, { hidden: true });
  const more = name && opener(name, (open) => {
    main.classList.toggle("opened", open);
    if (!place.hasChildNodes()) place.append(facts(pairs()));
    further.hidden = !open;
  });
  const main = row(columns, columns.map((c) => (c.name === "more" ? more : cells[c.name])), attributes);
  return [main, further];
}

// steadyCell is the class of a trial's series, with the slices until it was steady.
function steadyCell(steady) {
  if (!steady?.class) return "";
  return [steady.class, steady.slices ? h("span", { class: "hint" }, ` after ${several(steady.slices, "slice")}`) : null];
}

// opener is the button that shows further figures, and takes them away again.
function opener(name, show) {
  const button = h("button", { type: "button", class: "quiet", "aria-expanded": "false", "aria-label": `Further figures of ${name}` }, "more");
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", String(open));
    button.textContent = open ? "less" : "more";
    show(open);
  });
  return button;
}

function compositeRows(columns, c, scale) {
  const cells = { kernel: `${c.name} (composite)`, params: params(c.params), host: c.host, score: h("strong", {}, number(c.value)), unit: c.unit, interval: intervalCell(c, scale), n: String(c.n) };
  return opening(columns, cells, `the composite ${c.name} ${params(c.params)}`, () => compositeFigures(c), { class: "composite" });
}

// notes are the errors and doubts of a trial, in sentences.
function notes(t) {
  const out = [];
  if (t.error) out.push(`${t.state}: ${t.error.message}`);
  if (t.failures) {
    const classes = Object.entries(t.failures.classes).map(([name, n]) => `${n} ${name}`).join(", ");
    out.push(`${several(t.failures.count, "operation")} failed (${classes}); the first: ${t.failures.sample}`);
  }
  // A trial that was not measured is no doubtful figure: there is none.
  if (t.score || !t.error) for (const reason of t.validity.reasons ?? []) out.push(`doubtful: ${reason}`);
  if (t.score?.reason) out.push(sentence(t.score.reason));
  return out;
}

// intervalCell draws the interval about the score, which is the middle, on the scale that all
// rows share.
function intervalCell(score, scale) {
  const b = bounds(score);
  const text = interval(score);
  if (!b) return h("span", { class: "hint", title: score.reason || null }, text);
  return [bar(-b.down, b.up, scale), h("span", { class: "figures" }, text)];
}

const height = 28;

// strips draws the samples of each fork, all on one scale. A fork's dots are one path of
// points, since a long run has tens of thousands.
function strips(t) {
  const forks = t.forks.filter((f) => f.samples.length > 0);
  if (forks.length === 0 || !t.score?.value) return "";
  const all = forks.flatMap((f) => f.samples), middle = t.score.value;
  let low = all.reduce((a, b) => Math.min(a, b)), high = all.reduce((a, b) => Math.max(a, b));
  const least = Math.abs(0.02 * middle);
  if (high - low < least) [low, high] = [(low + high - least) / 2, (low + high + least) / 2];
  const y = (v) => (3 + (height - 6) * (1 - (v - low) / (high - low))).toFixed(1);
  const step = Math.min(4, 120 / Math.max(...forks.map((f) => f.samples.length)));
  return h("div", { class: "strips" }, forks.map((f, i) => strip(f.samples, step, y, y(middle), i + 1)));
}

// strip draws one fork; its label says what it shows to those who do not see it.
function strip(samples, step, y, middle, fork) {
  const width = Math.max(8, Math.ceil(step * samples.length + 4));
  const dots = samples.map((v, i) => `M${(2 + step * (i + 0.5)).toFixed(1)} ${y(v)}h0`).join("");
  const low = number(samples.reduce((a, b) => Math.min(a, b))), high = number(samples.reduce((a, b) => Math.max(a, b)));
  return s("svg", {
    class: "samples", viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": `Fork ${fork}: ${several(samples.length, "sample")} from ${low} to ${high}, the first ${number(samples[0])}, the last ${number(samples.at(-1))}.`,
  }, s("rect", { class: "ground", x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 2 }),
  s("line", { class: "axis", x1: 0, x2: width, y1: middle, y2: middle }),
  s("path", { class: step < 2 ? "dots dense" : "dots", d: dots }));
}

function host(name, snapshot) {
  const f = snapshot.facts;
  return h("section", { class: "card" }, h("h3", {}, name),
    h("p", {}, `${f.cpu_model || "unknown CPU"}, ${f.threads} CPUs, fingerprint `, h("code", {}, snapshot.fingerprint)),
    h("details", {}, h("summary", {}, "Facts"), snapshotFacts(snapshot)),
    h("details", {}, h("summary", {}, "Readings as a trial began"), facts(readings(snapshot))));
}
