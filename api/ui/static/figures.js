// What else a trial or a composite measured, as names and values.
import { h } from "./dom.js";
import { interval, latency, number, several, share, size } from "./format.js";
import { sentence } from "./service.js";

// figures gives the pairs of a trial.
export function figures(t) {
  const pairs = (t.metrics ?? []).map((m) => [m.metric.replaceAll("_", " "), m.value === null ? null : scored(m), m.reason]);
  pairs.push(["steady", steady(t.steady), t.steady?.reason]);
  if (t.with_warmup) pairs.push(["with the warm-up", scored(t.with_warmup.score), t.with_warmup.score.reason]);
  if (t.precision) pairs.push(["precision", precision(t.precision)]);
  if (t.latency) pairs.push([t.service_time ? "times of single operations, from their scheduled start" : "times of single operations", times(t.latency)]);
  if (t.service_time) pairs.push(["service times, from their own start", times(t.service_time)]);
  if (t.placement?.pin) pairs.push(["placement", placement(t.placement)]);
  if (t.of_floor) pairs.push(["of its floor", floor(t.of_floor), t.of_floor.reason]);
  if (t.settings) pairs.push(["set at the other side", Object.entries(t.settings).sort().map(([name, value]) => `${name} ${value}`).join(", ")]);
  if (t.standing) pairs.push(["among published figures", sentence(t.standing.text)]);
  t.forks.forEach((f, i) => pairs.push([`fork ${i + 1}`, [forkText(f), f.noise ? h("span", { class: "hint block" }, `Meanwhile: ${noise(f.noise)}.`) : null]]));
  return pairs;
}

// floor tells a score as a part of that of the same bytes over a bare connection.
function floor(o) {
  if (o.value === null) return null;
  return o.low === null || o.high === null ? share(o.value) : `${share(o.value)} (${share(o.low)} to ${share(o.high)})`;
}

// compositeFigures gives those of a composite.
export function compositeFigures(c) {
  return [["arithmetic mean of", c.members.join(", ")], ...(c.standing ? [["among published figures", sentence(c.standing.text)]] : [])];
}

function scored(m) {
  return m.value === null ? null : `${number(m.value)} ${m.unit} (${interval(m)})`;
}

function steady(s) {
  if (!s?.class) return null;
  if (s.slices === null) return s.reason ? `${s.class}: ${s.reason}` : s.class;
  return s.slices === 0 ? `${s.class}, from the first slice on` : `${s.class}, after ${several(s.slices, "slice")} or ${several(s.operations, "operation")}`;
}

function precision(p) {
  return `${p.reached === null ? "unknown" : `±${share(p.reached)}`}, where ±${share(p.target)} was asked for: ${p.reason}`;
}

function times(l) {
  const tail = Object.entries(l.percentiles).sort(([a], [b]) => a - b).map(([p, ns]) => `p${p} ${latency(ns)}`).join(", ");
  return `min ${latency(l.min)}, ${tail}, max ${latency(l.max)}`;
}

function placement(p) {
  const at = (cpus) => (cpus ? `on CPU ${cpus.join(", ")}` : "free");
  return `pin ${p.pin}${p.client || p.server ? ` (client ${at(p.client)}; server ${at(p.server)})` : ""}, CPUs ${p.awake ? "kept awake" : "free to halt"}`;
}

function forkText(f) {
  const cores = (v) => (v === null ? "unknown" : `${v.toFixed(2)} cores`);
  const out = [`client ${cores(f.cpu.client)}`];
  if (f.server_usage) out.push(`server ${cores(f.cpu.server)}`);
  if (f.cpu.system !== null) out.push(`${(100 * f.cpu.system).toFixed(0)} % of the host busy`);
  if (f.usage.max_rss_bytes !== null) out.push(`peak memory ${size(f.usage.max_rss_bytes)}`);
  out.push(f.warmup.operations ? `warm-up of ${several(f.warmup.slices, "slice")}, ${several(f.warmup.operations, "operation")}` : "no warm-up");
  if (f.steady) out.push(`series ${f.steady === "none" ? "never steady" : f.steady}`);
  return out.join(", ");
}

// least leaves out what is less than 0.1 %.
function least(part) {
  return part >= 0.001 ? part : null;
}

// noise tells what the host did besides, as far as it is known. What is rare is told when
// there was any.
function noise(n) {
  const all = [
    [n.others, (v) => `others used ${v.toFixed(2)} cores`], [n.steal, (v) => `${share(v)} stolen by the hypervisor`],
    [n.pressure_cpu, (v) => `tasks waited for a CPU in ${share(v)} of the time`],
    [least(n.pressure_memory), (v) => `for memory in ${share(v)}`], [least(n.pressure_io), (v) => `for input or output in ${share(v)}`],
    [n.mhz_high, (v) => (n.mhz_low === null || Math.round(n.mhz_low) === Math.round(v) ? `clock ${v.toFixed(0)} MHz` : `clocks ${n.mhz_low.toFixed(0)} to ${v.toFixed(0)} MHz`)],
    [n.clock_drop || null, (v) => `the clock fell by ${share(v)}`], [n.throttled_s || null, (v) => `held back by the cgroup for ${number(v)} s`],
    [n.thermal_events || null, (v) => `slowed down for heat ${several(v, "time")}`], [n.swapped_pages || null, (v) => `${several(v, "page")} swapped`],
  ];
  return all.filter(([v]) => v !== null && v !== undefined).map(([v, text]) => text(v)).join(", ") || "nothing known";
}
