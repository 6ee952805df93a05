// One run: how far it is while it is measured, and its result once it is over.
import { badge, h, labels, renew, row, say, table, trouble, when } from "./dom.js";
import { ask, follow, kernels, sentence } from "./service.js";
import { asked, number, params, several } from "./format.js";
import { field } from "./field.js";
import { result } from "./result.js";

const columns = [
  { name: "state", label: "State" }, { name: "kernel", label: "Kernel" }, { name: "params", label: "Parameters" }, { name: "host", label: "Host" },
  { name: "phase", label: "Phase" }, { name: "last", label: "Last sample", numeric: true },
];

// run gives the screen of the run with an id.
export function run(id) {
  return async (place, _query, signal) => {
    const view = new View(id, signal);
    place.append(view.element);
    const known = await kernels().catch(() => []);
    view.units = new Map(known.map((k) => [k.name, k.unit]));
    await follow(signal, () => view.look());
    if (signal.aborted) return;
    await follow(signal, () => view.finish());
  };
}

class View {
  constructor(id, signal) {
    Object.assign(this, { id, signal, state: "", units: new Map(), lines: new Map() });
    this.head = h("div");
    this.buttons = h("div", { class: "buttons" });
    this.progress = h("div");
    this.after = h("div");
    this.trials = h("div");
    this.result = h("div");
    this.request = h("div");
    this.element = h("div", {}, this.head, this.buttons, this.after, this.progress, this.result, this.trials, this.request);
  }

  get address() { return `v1/runs/${this.id}`; }

  // look asks how far the run is. The service answers a waiting request at a change of state
  // only, so the wait is short while something is measured, to show its slices; it is longer
  // the more there is to show.
  async look() {
    const wait = this.state === "queued" ? 10 : Math.min(10, 1 + Math.floor((this.last?.trials.length ?? 0) / 100));
    const run = await ask(this.state ? `${this.address}?wait=${wait}s` : this.address, { signal: this.signal });
    if (this.state && this.state !== run.state) say(`The run is ${run.state}.`);
    this.show(run);
    return final(run) ? null : 100;
  }

  show(run) {
    this.last = run;
    this.state = run.state;
    this.repeats = run.spec.repeat > 1;
    renew(this.head, [run.state, run.reason, run.started, run.finished, run.hosts], () => head(run));
    renew(this.buttons, run.state, () => this.actions(run));
    renew(this.progress, [run.progress, run.state], () => (final(run) ? null : bar(run)));
    renew(this.request, run.spec, () => h("details", {}, h("summary", {}, "The request, with every default filled in"),
      h("pre", { class: "code", tabindex: 0, role: "region", "aria-label": "The request as JSON" }, JSON.stringify(run.spec, null, 2))));
    this.showTrials(run);
  }

  // showTrials changes only the rows of trials that changed: a run may have a thousand.
  showTrials(run) {
    if (this.lines.size === 0) this.trials.append(h("h2", {}, "Trials"), table("Trials", columns, run.trials.map((t) => this.line(t))));
    for (const t of run.trials) {
      const line = this.lines.get(t.id), key = JSON.stringify(t);
      if (!line || line.key === key) continue;
      const old = line.element;
      old.replaceWith(this.line(t));
    }
  }

  line(t) {
    const value = t.phase?.value;
    const element = row(columns, [badge(t.state), t.kernel, [params(t.params), this.repeats ? h("span", { class: "hint block" }, `repeat ${t.repeat}`) : null], t.host || h("span", { class: "hint" }, "none yet"),
      t.error ? h("span", { class: "error" }, sentence(t.error.message)) : phase(t.phase),
      value === undefined || value === null ? "" : `${number(value)} ${this.units.get(t.kernel) ?? ""}`]);
    this.lines.set(t.id, { element, key: JSON.stringify(t) });
    return element;
  }

  actions(run) {
    const over = final(run);
    return [
      over ? null : h("button", { type: "button", class: "danger", disabled: run.state === "canceling", onclick: () => this.cancel() }, run.state === "canceling" ? "Canceling …" : "Cancel the run"),
      over ? h("a", { class: "button main", href: `${this.address}/results`, download: `benchd-${run.id}.json` }, "Download the result (JSON)") : null,
      h("a", { class: "button", href: `#/new?from=${run.id}` }, "Post again"),
    ];
  }

  async cancel() {
    if (!confirm("Cancel this run? What it has measured so far is kept.")) return;
    try {
      this.show(await ask(this.address, { method: "DELETE", signal: this.signal }));
      say("The run is being canceled.");
      document.getElementById("main").focus({ preventScroll: true }); // the button is another now
    } catch (e) {
      if (!this.signal.aborted) trouble(`The run was not canceled: ${sentence(e.message)}`);
    }
  }

  // comparing is a small form that leads from this run, as the head, to a comparison.
  comparing() {
    const list = h("datalist", { id: "runs-to-compare" });
    ask("v1/runs?limit=25", { signal: this.signal }).then(({ runs }) => list.append(...runs.filter((r) => final(r) && r.id !== this.id)
      .map((r) => h("option", { value: r.id }, `${asked(r.spec)}, ${r.state}, ${when(r.created).textContent}`)))).catch(() => {});
    const base = field("Compare with run", "its id: the base, which this run is compared with", h("input", { name: "base", class: "run", list: list.id, required: true, autocomplete: "off", spellcheck: "false", placeholder: "id of a run" }));
    const form = h("form", { class: "filters pair", "aria-label": "Compare with another run" }, base.element, h("div", { class: "buttons" }, h("button", { type: "submit" }, "Compare")), list);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      location.hash = `#/compare?${new URLSearchParams({ base: base.control.value.trim(), head: this.id })}`;
    });
    return form;
  }

  // finish shows the result in place of the trials. When nothing was measured, the trials say
  // why not.
  async finish() {
    const found = await ask(`${this.address}/results`, { signal: this.signal });
    if (found.trials.some((t) => t.score)) {
      renew(this.result, found, () => result(found));
      this.trials.hidden = true;
    }
    renew(this.after, this.id, () => [formats(this.address, found.spec.suite), this.comparing()]);
    return null;
  }
}

// formats links the result as other tools read it; some formats are for some suites only.
function formats(address, suite) {
  const links = [...document.getElementById("formats").content.cloneNode(true).querySelectorAll("a")]
    .filter((a) => !a.dataset.suites || a.dataset.suites.split(" ").includes(suite));
  for (const a of links) a.href = `${address}/results?format=${a.dataset.format}`;
  return h("p", {}, "The result as ", links.map((a, i) => [i ? ", " : "", a]), ".");
}

function final(run) {
  return document.getElementById("main").dataset.final.split(" ").includes(run.state);
}

function head(run) {
  const times = [["created", run.created], ["started", run.started], ["finished", run.finished]].filter(([, t]) => t);
  return [
    h("h1", {}, "Run ", h("span", { title: run.id }, `…${run.id.slice(-8)}`), " ", badge(run.state)),
    run.reason ? h("p", { class: "reason" }, sentence(run.reason)) : null,
    h("p", {}, asked(run.spec), run.hosts.length ? ` on ${run.hosts.join(", ")} ` : " ", labels(run.spec.labels)),
    h("p", { class: "hint" }, h("code", {}, run.id), times.map(([name, t]) => [`, ${name} `, when(t)])),
  ];
}

function bar(run) {
  const p = run.progress;
  const left = p.eta ? `about ${p.eta} left` : run.state === "queued" ? "waits" : "";
  return [h("progress", { max: 100, value: p.percent, "aria-label": "Progress of the run" }),
    h("p", { class: "hint" }, [`${p.percent} %`, `${p.done} of ${several(p.total, "trial")}`, left].filter(Boolean).join(", "))];
}

function phase(p) {
  if (!p) return "";
  const slices = p.slices ? ` ${p.slice}/${p.slices}` : "";
  return [`${p.name}${slices}`, p.forks > 1 ? h("span", { class: "hint" }, ` fork ${p.fork} of ${p.forks}`) : null,
    h("progress", { max: 100, value: p.percent, "aria-label": "progress of the trial" })];
}
