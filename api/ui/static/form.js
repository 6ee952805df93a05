// The form that asks for a run. What it will post can be read beside it at any time, and
// posted from elsewhere.
import { h, say } from "./dom.js";
import { ask, hosts, kernels, post, sentence, suites } from "./service.js";
import { choices, field, found, pairs, typed, unpairs, untyped } from "./field.js";
import { entry, suiteTrials } from "./case.js";
import { several } from "./format.js";

// form makes the form, filled in from the run of the id given, if any.
export async function form({ from, signal }) {
  const [known, named, there, old] = await Promise.all([kernels(), suites(), hosts(signal), from ? ask(`v1/runs/${encodeURIComponent(from)}`, { signal }) : null]);
  return new Form(known, named, there, old?.spec).element;
}

class Form {
  constructor(known, named, there, spec) {
    this.known = known;
    this.named = named;
    this.entries = [];
    this.limits = widest(there);
    this.services = offered(there);
    this.makeFields(there, spec);
    this.cases = h("div");
    this.problems = h("div", { class: "problems", tabindex: -1, hidden: true });
    this.text = h("pre", { class: "code", tabindex: 0, role: "region", "aria-label": "The request as JSON" });
    this.curl = h("pre", { class: "code wrap", tabindex: 0, role: "region", "aria-label": "The request as a command" });
    this.count = h("span", { class: "hint", role: "status" });
    this.button = h("button", { type: "submit", class: "main" }, "Post the run");
    this.element = this.lay();
    for (const c of spec?.cases ?? []) this.add(c);
    if (!spec) this.suite.control.value = named[0]?.name ?? "";
    this.element.addEventListener("input", () => this.update());
    this.element.addEventListener("submit", (event) => { event.preventDefault(); this.submit(); });
    this.update();
  }

  makeFields(there, spec) {
    const chosen = spec?.hosts?.names ?? [];
    const names = [...new Set([...there.map((t) => t.name), ...chosen])];
    const live = there.filter((t) => t.live).map((t) => t.name);
    this.suite = field("Suite", "", h("select", {}, h("option", { value: "" }, "none"), this.named.map((s) => h("option", { value: s.name }, s.name))));
    this.suite.control.value = spec?.suite ?? "";
    this.hosts = choices("Hosts by name", `Every case is measured on each; none means any one host. ${live.length ? `Live: ${live.join(", ")}.` : "No host is live."}`, names, chosen);
    this.hostLabels = field("Host labels", "name=value, one on each line: any one host that carries them all.", h("textarea", { rows: 2, spellcheck: "false" }, unpairs(spec?.hosts?.labels)));
    this.labels = field("Labels", "name=value, one on each line: free words to find the run by.", h("textarea", { rows: 2, spellcheck: "false" }, unpairs(spec?.labels)));
    this.planFields = document.getElementById("plan").content.cloneNode(true);
    this.plan = new Map([...this.planFields.querySelectorAll("[data-field]")].map((e) => [e.dataset.field, found(e)]));
    if (spec) for (const f of this.plan.values()) f.control.value = untyped(valueAt(spec, f.control.dataset.pointer));
  }

  lay() {
    return h("form", { class: "ask", novalidate: true },
      h("div", { class: "asking" },
        this.suite.element, this.cases,
        h("p", { class: "buttons" }, h("button", { type: "button", onclick: () => { this.add().kernel.control.focus(); this.update(); } }, "Add a kernel")),
        h("fieldset", {}, h("legend", {}, "Where"), h("div", { class: "fields" }, this.hosts.element, this.hostLabels.element)),
        h("fieldset", {}, h("legend", {}, "Plan"), h("div", { class: "fields" }, this.planFields)),
        this.labels.element),
      h("div", { class: "asked" },
        this.problems,
        h("p", { class: "buttons" }, this.button, this.count),
        h("h2", {}, "What will be posted"), this.text,
        h("h2", {}, "The same by curl"), this.curl,
        h("p", { class: "buttons" }, h("button", { type: "button", class: "quiet", onclick: () => this.copy() }, "Copy the command"))));
  }

  add(spec) {
    const e = entry(this.known, this.limits, this.services, spec, () => this.update(), () => {
      this.entries.splice(this.entries.indexOf(e), 1);
      e.element.remove();
      this.update();
      this.suite.control.focus();
    });
    this.entries.push(e);
    this.cases.append(e.element);
    return e;
  }

  // read gives the request, the field of each JSON pointer in it, and what this page itself
  // finds wrong.
  read() {
    const spec = {}, places = new Map([["/suite", this.suite], ["/hosts/names", this.hosts], ["/hosts/labels", this.hostLabels], ["/labels", this.labels]]);
    const wrong = [];
    if (this.suite.control.value) spec.suite = this.suite.control.value;
    this.entries.forEach((e, i) => {
      (spec.cases ??= []).push(e.read());
      places.set(`/cases/${i}`, e.kernel);
      for (const p of e.params) places.set(`/cases/${i}/params/${p.name.replaceAll("~", "~0").replaceAll("/", "~1")}`, p.field);
    });
    const map = (pointer, f) => {
      const { map: got, wrong: text } = pairs(f.control.value);
      if (text) wrong.push({ pointer, message: text });
      return Object.keys(got).length ? got : undefined;
    };
    const names = this.hosts.chosen(), carried = map("/hosts/labels", this.hostLabels);
    if (names.length || carried) spec.hosts = { ...(names.length && { names }), ...(carried && { labels: carried }) };
    for (const f of this.plan.values()) readPlan(spec, places, f);
    const labels = map("/labels", this.labels);
    if (labels) spec.labels = labels;
    return { spec, places, wrong };
  }

  // update shows what would be posted now.
  update() {
    const { spec } = this.read();
    const suite = this.named.find((s) => s.name === spec.suite);
    this.suite.element.querySelector(".hint").textContent = suite?.title ?? "A named list of cases with a plan of its own.";
    for (const [name, f] of this.plan) standard(f.control, suite?.plan[name] ?? f.control.dataset.default);
    this.text.textContent = JSON.stringify(spec, null, 2);
    const quoted = JSON.stringify(spec).replaceAll("'", "'\\''");
    this.curl.textContent = `curl -sS -H 'Content-Type: application/json' -d '${quoted}' '${new URL("v1/runs", document.baseURI)}'`;
    const n = (suiteTrials(this.known, suite) + this.entries.reduce((m, e) => m + e.trials(), 0)) * Math.max(1, spec.hosts?.names?.length ?? 0) * (spec.repeat >= 1 ? spec.repeat : 1);
    this.count.textContent = n ? several(n, "trial") : "Choose a suite, or add a kernel.";
  }

  async submit() {
    const { spec, places, wrong } = this.read();
    this.complain(places, "", []);
    if (wrong.length) return this.complain(places, "The run was not posted.", wrong);
    const text = JSON.stringify(spec);
    if (text !== this.sent) [this.sent, this.key] = [text, newKey()];
    this.button.disabled = true;
    try {
      const run = await post(text, this.key);
      say("The run was posted.");
      location.hash = `#/runs/${run.id}`;
    } catch (e) {
      this.complain(places, e.errors?.length ? "The run was not posted." : sentence(e.message), e.errors ?? []);
    } finally {
      this.button.disabled = false;
    }
  }

  // complain shows each error at its field, by the longest pointer that leads to one, and all
  // of them together above the button.
  complain(places, title, errors) {
    for (const f of places.values()) f.complain("");
    this.problems.hidden = title === "";
    const at = new Map();
    const items = errors.map((e) => {
      const f = place(places, e.pointer ?? "");
      const text = sentence(e.message);
      if (f) at.set(f, [...(at.get(f) ?? []), text]);
      const named = f && /^must\b/.test(e.message) ? `${f.label} ${e.message}` : e.message; // alone it needs its subject
      return h("li", {}, f ? h("button", { type: "button", class: "link", onclick: () => f.control.focus() }, sentence(named)) : text,
        e.pointer ? h("code", {}, ` ${e.pointer}`) : null);
    });
    for (const [f, texts] of at) f.complain(texts.join(" "));
    this.problems.replaceChildren(h("p", { role: "alert" }, title), h("ul", {}, items));
    if (title) this.problems.focus();
  }

  // copy puts the command on the clipboard; where the browser does not let a page do that, as
  // on an address without TLS, it selects the text so that a key does it.
  async copy() {
    try {
      await navigator.clipboard.writeText(this.curl.textContent);
      say("Copied.");
    } catch {
      getSelection().selectAllChildren(this.curl);
      say("The command is selected: copy it with your keyboard.");
    }
  }
}

// readPlan puts the value of a plan's field where its pointer says; an empty field leaves it
// to its default.
function readPlan(spec, places, f) {
  const text = f.control.value.trim(), { pointer, kind } = f.control.dataset;
  places.set(pointer, f);
  if (text === "") return;
  const names = pointer.slice(1).split("/"), last = names.pop();
  const inner = names.reduce((at, name) => (at[name] ??= {}), spec);
  inner[last] = typed(kind, text);
}

function valueAt(spec, pointer) {
  return pointer.slice(1).split("/").reduce((at, name) => at?.[name], spec);
}

// standard shows the value that an empty field stands for.
function standard(control, value) {
  if (control.options) control.options[0].textContent = `default: ${value}`;
  else control.placeholder = value;
}

// place finds the field of a pointer: its own, or that of the nearest value around it.
function place(places, pointer) {
  for (let p = pointer; p !== ""; p = p.slice(0, p.lastIndexOf("/"))) {
    if (places.has(p)) return places.get(p);
  }
  return null;
}

// widest gives the largest limits of the live hosts, or of all when none is live, for the
// hints of the fields. The service judges; it knows which hosts will be asked.
function widest(there) {
  const asked = there.some((t) => t.live) ? there.filter((t) => t.live) : there;
  const most = (name) => Math.max(...asked.map((t) => t.limits[name]));
  return asked.length ? { clients: most("clients"), threads: most("threads"), bytes: most("bytes") } : null;
}

// offered gives the named services of the live hosts: the schemes of each, by its name.
function offered(there) {
  const out = Object.create(null); // a service may be called "constructor"
  for (const t of there.filter((t) => t.live)) {
    for (const [name, scheme] of Object.entries(t.services ?? {})) (out[name] ??= []).push(scheme);
  }
  return out;
}

// newKey makes a word that nobody else has.
function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
}
