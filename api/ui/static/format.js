// Writes figures as the command line's table does, so that a number looked up in one is found
// in the other.

// number writes a figure with four significant digits, or all before the point.
export function number(v) {
  if (v === null || v === undefined) return "unknown";
  const a = Math.abs(v);
  const decimals = a > 0 && a < 1000 ? Math.max(0, 3 - Math.floor(Math.log10(a))) : 0;
  return v.toFixed(Math.min(decimals, 100));
}

// bounds gives the distances of an interval's ends from the value, as parts of the value, or
// null when they are not known.
export function bounds(score) {
  if (score?.value === null || !score?.value || score.low === null || score.high === null) return null;
  return { down: (score.value - score.low) / score.value, up: (score.high - score.value) / score.value };
}

// interval writes the bounds as distances from the value: "-0.4% +0.6%".
export function interval(score) {
  const b = bounds(score);
  return b ? `-${(100 * b.down).toFixed(1)}% +${(100 * b.up).toFixed(1)}%` : "unknown";
}

// share writes a part in percent with a few significant digits: "2.5 %".
export function share(part, digits = 2) {
  return `${Number((100 * part).toPrecision(digits))} %`;
}

// change writes a part as a change in percent: "+3.2%".
export function change(part) {
  return part === null || part === undefined ? "unknown" : `${part < 0 ? "" : "+"}${(100 * part).toFixed(1)}%`;
}

// probability writes a p-value as people compare it.
export function probability(p) {
  if (p === null || p === undefined) return "";
  return p < 0.0001 ? "<0.0001" : p.toFixed(4);
}

// latency writes nanoseconds with three significant digits: "47.5µs".
export function latency(ns) {
  if (ns === null || ns === undefined) return "";
  for (let unit = 1; unit < ns; unit *= 10) {
    if (Math.floor(ns / unit) < 1000) return duration(Math.round(ns / unit) * unit);
  }
  return duration(ns);
}

// duration writes nanoseconds as the service writes durations: "1.5s", "1m30s".
export function duration(ns) {
  if (ns === 0) return "0s";
  const plain = (v) => String(Number(v.toFixed(9)));
  if (ns < 1e3) return `${ns}ns`;
  if (ns < 1e6) return `${plain(ns / 1e3)}µs`;
  if (ns < 1e9) return `${plain(ns / 1e6)}ms`;
  const hours = Math.floor(ns / 3600e9), minutes = Math.floor(ns / 60e9) % 60, seconds = plain((ns % 60e9) / 1e9);
  return `${hours ? `${hours}h` : ""}${hours || minutes ? `${minutes}m` : ""}${seconds}s`;
}

// size writes bytes in the largest unit that gives at most one decimal: 1 KB is 1,024 bytes.
export function size(bytes) {
  if (bytes === null || bytes === undefined) return null;
  for (const [unit, factor] of [["GB", 2 ** 30], ["MB", 2 ** 20], ["KB", 2 ** 10]]) {
    if (bytes >= factor) return `${Number((bytes / factor).toFixed(1))} ${unit}`;
  }
  return `${bytes} B`;
}

// params writes the parameters of a case sorted by name: "clients=1 model=stream".
export function params(p) {
  return Object.keys(p ?? {}).sort().map((name) => `${name}=${p[name]}`).join(" ");
}

// asked says in a few words what a run's request asks for.
export function asked(spec) {
  const cases = (spec.cases ?? []).map((c) => c.kernel);
  const kernels = [...new Set(cases)];
  const more = kernels.length > 3 ? `${kernels.slice(0, 3).join(", ")} and ${kernels.length - 3} more` : kernels.join(", ");
  return [spec.suite, more].filter(Boolean).join(" + ");
}

// several writes a number of things: "1 trial", "2 trials".
export function several(n, noun) {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
