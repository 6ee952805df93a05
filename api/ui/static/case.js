// One entry of a request's cases: a kernel or a family with its parameters, made from what
// the kernel says of itself.
import { h } from "./dom.js";
import { choices, field, plain } from "./field.js";
import { size } from "./format.js";

// entry makes the fields of one entry. The spec fills them in when it is given; changed is
// called after a change, and gone when the entry is to be taken away. The limits are those of
// the hosts, null where none is known, and the services theirs, schemes by name.
export function entry(kernels, limits, services, spec, changed, gone) {
  const select = h("select", {}, options(kernels, spec?.kernel));
  const kernel = field("Kernel", "", select);
  const place = h("div", { class: "fields" });
  const title = kernel.element.querySelector(".hint");
  let params = [];
  const choose = (values) => {
    const infos = members(kernels, select.value);
    params = union(infos).map((p) => param(p, most(p, infos.find((i) => i.params.includes(p)).lanes, limits), values?.[p.name], services));
    title.textContent = infos.length === 1 ? infos[0].title : `All of ${infos.map((i) => i.name).join(", ")}.`;
    if (infos.length === 0) title.textContent = "This service has no such kernel.";
    place.replaceChildren(...params.map((p) => p.field.element));
  };
  select.value = spec?.kernel ?? kernels[0].name;
  choose(spec?.params);
  select.addEventListener("change", () => { choose(); changed(); });
  const element = h("fieldset", { class: "case" }, h("legend", {}, "Case"),
    h("div", { class: "caseline" }, kernel.element, h("button", { type: "button", class: "quiet", onclick: gone }, "Remove")), place);
  return { element, kernel, get params() { return params; }, read: () => read(select.value, params), trials: () => trials(kernels, select.value, params) };
}

// options lists families, which stand for all of their kernels, and kernels.
function options(kernels, given) {
  const families = Map.groupBy ? Map.groupBy(kernels, (k) => k.family) : grouped(kernels);
  const out = [...families].map(([name, list]) => h("optgroup", { label: name },
    list.length > 1 ? h("option", { value: name }, `${name} (all ${list.length})`) : null,
    list.map((k) => h("option", { value: k.name }, k.name))));
  const known = kernels.some((k) => k.name === given || k.family === given);
  return given && !known ? [h("option", { value: given }, `${given} (not known here)`), ...out] : out;
}

function grouped(kernels) {
  const out = new Map();
  for (const k of kernels) out.set(k.family, [...(out.get(k.family) ?? []), k]);
  return out;
}

// members gives the kernels that a name stands for.
export function members(kernels, name) {
  return kernels.filter((k) => k.name === name || k.family === name);
}

// union gives the parameters that any of the kernels takes, each once.
function union(infos) {
  const out = new Map();
  for (const p of infos.flatMap((i) => i.params)) if (!out.has(p.name)) out.set(p.name, p);
  return [...out.values()];
}

// param makes the field of one parameter: a box for each value where they can be listed, and
// a text with commas otherwise.
function param(p, most, given, services) {
  const values = given === undefined ? null : [given].flat().map(String);
  if (p.kind === "service") return { name: p.name, standard: p.default, field: server(p, values, services) };
  const listed = p.kind === "bool" ? ["false", "true"] : p.values;
  if (listed) {
    const all = [...listed, ...(values ?? []).filter((v) => !listed.includes(v))];
    return { name: p.name, standard: p.default, field: choices(p.name, p.doc, all, values ?? [p.default]), boxes: true };
  }
  const bounds = p.kind === "size" ? `${size(p.min)} to ${size(most)}` : `${p.min} to ${most}`;
  const input = h("input", { autocomplete: "off", spellcheck: "false", placeholder: p.default, value: values?.join(", ") });
  return { name: p.name, standard: p.default, field: field(p.name, `${p.doc} ${bounds}; several parted by commas; ${p.default} when empty.`, input) };
}

let lists = 0;

// server makes the field of a service: a text, with the names to choose from that the live
// hosts have at addresses of the kernel's schemes.
function server(p, values, services) {
  const id = `services${++lists}`;
  const names = Object.keys(services).filter((name) => services[name].some((scheme) => p.schemes.includes(scheme)));
  const input = h("input", { autocomplete: "off", spellcheck: "false", list: id, placeholder: p.default, value: values?.join(", ") });
  const f = field(p.name, `${p.doc} Names of the hosts’ services parted by commas, or every; ${p.default} when empty.${needed(p)}`, input);
  f.element.append(h("datalist", { id }, [p.default, "every", ...names.sort()].map((value) => h("option", { value }))));
  return f;
}

// needed tells where there is no server of the kernel's own.
function needed(p) {
  const outside = Object.keys(p.servers ?? {}).filter((value) => !p.servers[value].embedded);
  return outside.length ? ` Where ${p.of} is ${outside.join(" or ")}, a name or every is needed.` : "";
}

// most is the largest value of a number or a size: the kernel's bound or the hosts' limit.
function most(p, lanes, limits) {
  if (!limits) return p.max;
  if (p.kind === "size") return Math.min(p.max, limits.bytes);
  if (p.name !== lanes) return p.max;
  return Math.min(p.max, p.name === "threads" ? limits.threads : limits.clients);
}

// asked gives the values that a parameter's field asks for; null leaves it to its default.
function asked(p) {
  if (p.boxes) {
    const chosen = p.field.chosen();
    return chosen.length === 1 && chosen[0] === p.standard ? null : chosen;
  }
  const list = p.field.control.value.split(",").map((v) => v.trim()).filter(Boolean);
  return list.length ? list : null;
}

function read(kernel, params) {
  const out = { kernel };
  for (const p of params) {
    const values = asked(p)?.map(plain);
    if (values) (out.params ??= {})[p.name] = values.length === 1 ? values[0] : values;
  }
  return out;
}

// trials tells how many trials the entry makes on one host.
function trials(kernels, name, params) {
  const values = new Map(params.map((p) => [p.name, asked(p)?.length ?? 1]));
  return members(kernels, name).reduce((n, k) => n + k.params.reduce((m, p) => m * values.get(p.name), 1), 0);
}

// suiteTrials tells the same of a suite.
export function suiteTrials(kernels, suite) {
  return (suite?.cases ?? []).reduce((n, c) => n + members(kernels, c.kernel).reduce(
    (all, k) => all + k.params.reduce((m, p) => m * [c.params?.[p.name] ?? 0].flat().length, 1), 0), 0);
}
