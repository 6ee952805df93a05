// The hosts: whether they are there, what they allow, what they measure now and what they are.
import { facts, h, labels, renew, when } from "./dom.js";
import { follow, hosts as fetchHosts } from "./service.js";
import { size } from "./format.js";

// hosts shows every host that was ever seen and keeps looking.
export async function hosts(place, _query, signal) {
  const list = h("div", { class: "cards" });
  place.append(h("h1", {}, "Hosts"), list);
  const cards = new Map();
  await follow(signal, async () => {
    const found = await fetchHosts(signal);
    if (found.length === 0) {
      renew(list, "none", () => h("p", {}, "No host has been seen yet: start a worker."));
      return 5000;
    }
    if (cards.size === 0) list.replaceChildren();
    for (const host of found) {
      if (!cards.has(host.name)) {
        cards.set(host.name, card());
        list.append(cards.get(host.name).element);
      }
      cards.get(host.name).show(host);
    }
    return 5000;
  });
}

// card shows one host. Each of its parts is made anew only when it changed.
function card() {
  const head = h("div"), state = h("div"), is = h("div"), now = h("div");
  const element = h("section", { class: "card" }, head, state,
    h("details", {}, h("summary", {}, "Facts"), is),
    h("details", {}, h("summary", {}, "Readings"), now));
  return {
    element,
    show(host) {
      renew(head, [host.name, host.live, host.labels], () => [
        h("h2", {}, host.name, " ", h("span", { class: `badge ${host.live ? "succeeded" : "lost"}` }, host.live ? "live" : "not live")),
        h("p", {}, labels(host.labels))]);
      renew(state, [host.last_seen, host.running, host.limits, host.services, host.version, host.snapshot.fingerprint], () => facts(status(host)));
      renew(is, host.snapshot.facts, () => snapshotFacts(host.snapshot));
      renew(now, host.snapshot.volatile, () => facts(readings(host.snapshot)));
    },
  };
}

function status(host) {
  const l = host.limits;
  return [
    ["measures", host.running ? h("a", { href: `#/runs/${host.running.run}` }, `run …${host.running.run.slice(-8)}`) : host.live ? "nothing now" : "nothing: it is away"],
    ["last seen", when(host.last_seen)],
    ["limits", `${l.clients} clients, ${l.threads} threads, ${l.trial_time} a trial, sizes up to ${size(l.bytes)}`],
    ...(host.services ? [["services", Object.entries(host.services).map(([name, scheme]) => `${name} (${scheme})`).join(", ")]] : []),
    ["fingerprint", h("code", {}, host.snapshot.fingerprint)],
    ["worker", host.version],
  ];
}

const named = {
  cpu_model: "CPU", cache_l1d_bytes: "L1 data cache", cache_l2_bytes: "L2 cache", cache_l3_bytes: "L3 cache",
  memory_bytes: "memory", os: "OS", cgroup_cpu_cores: "cgroup CPUs", cgroup_memory_bytes: "cgroup memory", smt: "SMT",
  arch: "architecture", arch_level: "architecture level", go: "Go", free_memory_bytes: "free memory", mhz: "MHz",
  uptime_s: "uptime", clock_offset_s: "clock offset", temperature_celsius: "temperature", at: "read at",
};

// list makes pairs of whatever facts there are, so that a new fact shows without a change here.
function list(values, unknown) {
  return Object.entries(values).map(([name, value]) => [named[name] ?? name.replaceAll("_", " "), written(name, value), unknown?.[name]]);
}

function written(name, value) {
  if (value === null || value === "") return null;
  if (name === "at") return when(value);
  if (name.endsWith("_bytes")) return size(value);
  if (name.endsWith("_s")) return `${Number(value.toFixed(3))} s`;
  if (name.endsWith("_celsius")) return `${value} °C`;
  if (typeof value === "boolean") return value ? "on" : "off";
  return typeof value === "number" ? String(Number(value.toFixed(2))) : String(value);
}

// snapshotFacts shows the stable facts of a host, as now or as when a trial began.
export function snapshotFacts(snapshot) {
  return facts(list(snapshot.facts, snapshot.unknown));
}

// readings are what changes by itself.
export function readings(snapshot) {
  return list(snapshot.volatile, snapshot.unknown);
}
