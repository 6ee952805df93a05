// The steps of a ramp: what was measured at each number of lanes, drawn as bars and listed.
import { h, row, table } from "./dom.js";
import { fraction } from "./bar.js";
import { interval, latency, number } from "./format.js";

const columns = [
  { name: "lanes", label: "Lanes", numeric: true }, { name: "throughput", label: "Throughput", numeric: true }, { name: "drawn", label: "Of the highest" },
  { name: "interval", label: "Interval" }, { name: "n", label: "n", numeric: true }, { name: "client", label: "Client cores", numeric: true },
  { name: "server", label: "Server cores", numeric: true }, { name: "host", label: "Host busy", numeric: true },
  { name: "p50", label: "p50", numeric: true }, { name: "p99", label: "p99", numeric: true }, { name: "max", label: "Max", numeric: true }, { name: "failures", label: "Failed", numeric: true },
];

// ramp shows the series of a trial.
export function ramp(series, name) {
  const most = Math.max(...series.steps.map((step) => step.throughput.value ?? 0));
  return h("div", {}, h("p", {}, sentenceOf(series)),
    table(`Steps of the ramp of ${name}`, columns, series.steps.map((step) => stepRow(step, most, step.lanes === series.scored_at))));
}

// sentenceOf says where more lanes do no more.
function sentenceOf(series) {
  if (series.stops_rising_at === null) return `Where the throughput stops rising is not known: ${series.reason}. The score is that of ${series.scored_at} lanes.`;
  return `The throughput stops rising at ${series.stops_rising_at} lanes, which the score is of.`;
}

function stepRow(step, most, scored) {
  const { throughput, cpu } = step;
  const figures = throughput.value === null ? "unknown" : `${number(throughput.value)} ${throughput.unit}`;
  return row(columns, [
    String(step.lanes), scored ? h("strong", {}, figures) : figures, most && throughput.value !== null ? fraction(throughput.value / most) : "", interval(throughput), String(throughput.n),
    cpu.client?.toFixed(2), cpu.server?.toFixed(2), cpu.system === null ? "" : `${(100 * cpu.system).toFixed(0)} %`,
    latency(step.latency?.p50), latency(step.latency?.p99), latency(step.latency?.max), String(step.failures),
  ]);
}
