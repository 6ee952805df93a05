// Talks to the JSON API. Addresses are relative, so that the page also works where a proxy
// puts it under a folder.
import { trouble } from "./dom.js";

// A Problem is an answer that is no success (RFC 9457), or the lack of any.
export class Problem extends Error {
  constructor(problem, status) {
    super(problem.detail || `the service answered with status ${status}`);
    this.status = status;
    this.code = problem.code ?? "";
    this.errors = problem.errors ?? [];
    this.request = problem.request_id ?? "";
  }
}

// ask sends a request and gives the JSON of its answer.
export async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, { headers: { accept: "application/json" }, ...options });
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new Problem({ detail: "The service cannot be reached.", code: "unreachable" }, 0);
  }
  const body = await answer.json().catch((e) => {
    if (e.name === "AbortError") throw e;
    return {};
  });
  if (!answer.ok) throw new Problem(body, answer.status);
  return body;
}

// post asks for a run. The key names the request, so that sending it again after a lost
// answer does not ask twice.
export function post(text, key) {
  return ask("v1/runs", { method: "POST", body: text, headers: { "content-type": "application/json", "idempotency-key": key } });
}

// once asks for what does not change while the service runs, and remembers it.
const known = new Map();
function once(path) {
  if (!known.has(path)) {
    const answer = ask(path);
    answer.catch(() => known.delete(path));
    known.set(path, answer);
  }
  return known.get(path);
}

export const kernels = () => once("v1/kernels").then((list) => list.kernels);
export const suites = () => once("v1/suites").then((list) => list.suites);
export const hosts = (signal) => ask("v1/hosts", { signal }).then((list) => list.hosts);

// sentence makes a whole sentence of a message.
export function sentence(text) {
  const t = String(text).trim();
  return t === "" ? t : t[0].toUpperCase() + t.slice(1) + (/[.!?…]$/.test(t) ? "" : ".");
}

// follow calls look again and again until the signal ends it or look gives null; look gives
// the milliseconds to wait until its next turn. It rests while nobody looks at the page, and
// while the service is away it says so and tries again.
export async function follow(signal, look) {
  for (let failed = 0; !signal.aborted;) {
    let rest;
    try {
      rest = await look();
      trouble("");
      failed = 0;
    } catch (e) {
      if (signal.aborted) return;
      if (e instanceof Problem && e.status >= 400 && e.status < 500) throw e;
      failed++;
      trouble(`${sentence(e.message)} What is shown may be old; trying again.`);
      rest = Math.min(1000 * 2 ** failed, 15000);
    }
    if (rest === null) return;
    await pause(signal, rest);
  }
}

// pause waits for a time, and then until the page is looked at.
function pause(signal, milliseconds) {
  return new Promise((done) => {
    const end = () => {
      if (document.hidden && !signal.aborted) return;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", end);
      signal.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, milliseconds);
    document.addEventListener("visibilitychange", end);
    signal.addEventListener("abort", end);
  });
}
