// Shows the screen that the address asks for: #/ and #/new, #/runs/<id>, #/compare, #/hosts.
import { h, trouble } from "./dom.js";
import { sentence } from "./service.js";
import { start } from "./start.js";
import { run } from "./run.js";
import { compare } from "./compare.js";
import { hosts } from "./hosts.js";

const main = document.getElementById("main");
let leaving = new AbortController();

// A screen is a function of (place, query, signal): it fills the place and works on until the
// signal says that the reader went elsewhere. It gives the heading, which takes the focus.
function screen(path) {
  if (path === "" || path === "new") return { nav: path === "" ? "runs" : "new", title: path === "" ? "Runs" : "New run", show: start(path === "new") };
  if (path === "hosts") return { nav: "hosts", title: "Hosts", show: hosts };
  if (path === "compare") return { nav: "compare", title: "Comparison", show: compare };
  const id = /^runs\/([0-9a-f-]+)$/.exec(path)?.[1];
  if (id) return { nav: "", title: `Run ${id.slice(-8)}`, show: run(id) };
  return { nav: "", title: "Not found", show: async (place) => { lost(place, "There is no such page."); } };
}

function lost(place, text) {
  place.replaceChildren(h("h1", { tabindex: -1 }, "Not here"), h("p", {}, text), h("p", {}, h("a", { href: "#/" }, "To the runs")));
}

async function go() {
  const hash = location.hash;
  if (hash !== "" && !hash.startsWith("#/")) return; // a place within the page
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const [path, query] = hash.slice(2).split("?");
  const next = screen(path);
  document.title = `${next.title} · benchd`;
  for (const link of document.querySelectorAll("[data-nav]")) {
    if (link.dataset.nav === next.nav) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  trouble("");
  const place = h("div", { class: "screen" });
  main.replaceChildren(place);
  try {
    await next.show(place, new URLSearchParams(query ?? ""), signal);
  } catch (e) {
    if (!signal.aborted) lost(place, sentence(e.message));
  }
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the hash is the screen's
  main.focus();
});
addEventListener("hashchange", () => {
  go();
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
});
go();
