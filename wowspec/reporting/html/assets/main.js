// Which page is shown is said by the address, so that links, the back button and bookmarks work.

const PAGES = [
  ["overview", "Overview", overview],
  ["specs", "Specs", specsPage],
  ["faults", "Failure orderings", faultsPage],
  ["findings", "Findings", () => findingsPage()],
  ["strength", "Strength", strengthPage],
  ["givens", "Givens", givensPage],
  ["fidelity", "Fidelity", fidelityPage],
];

function pageOf(address) {
  const simple = PAGES.find(([name]) => name === address);
  if (simple) return { current: simple[0], ...simple[2]() };
  if (address === "specs-failed" || address.startsWith("specs-of-")) {
    filter.outcome = address === "specs-failed" ? "failed" : "all";
    filter.text = address === "specs-failed" ? "" : address.slice("specs-of-".length);
    return { current: "specs", ...specsPage() };
  }
  if (address.startsWith("findings-")) return findingsPage(address.slice("findings-".length));
  if (address.startsWith("spec-")) return specPage(address);
  if (address.startsWith("cell-")) return cellPage(address.slice("cell-".length));
  if (address.startsWith("finding-")) return findingPage(address);
  return null;
}

function addressNow() {
  const raw = location.hash.slice(1);
  try { return decodeURIComponent(raw) || "overview"; } catch { return raw; }
}

const nowhere = (address) => ({
  title: "Nothing here",
  body: [h("h1", { tabindex: "-1" }, "Nothing here"), h("p", { class: "lead" }, "This report has nothing at ", code(`#${address}`), ". It may be of another run."), h("p", {}, h("a", { href: "#overview" }, "Overview"))],
});

const main = document.getElementById("main");
const positions = new Map();
let shown = null;
let clicked = false;

function show() {
  const address = addressNow();
  if (shown !== null) positions.set(shown, scrollY);
  const page = pageOf(address) || nowhere(address);
  main.replaceChildren();
  fill(main, {}, [page.body]);
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.hash === `#${page.current}`) link.setAttribute("aria-current", link.hash === `#${address}` ? "page" : "true");
    else link.removeAttribute("aria-current");
  }
  document.title = `${page.title} · ${data.title} · wowspec`;
  // Who clicks a link goes to the beginning of a page; who goes back finds the place that they left.
  scrollTo(0, clicked || shown === null ? 0 : positions.get(address) || 0);
  const target = page.target && (clicked || shown === null) ? main.querySelector(page.target) : null;
  if (target) target.scrollIntoView();
  if (shown !== null) main.querySelector("h1").focus({ preventScroll: true });
  shown = address;
  clicked = false;
}

fill(document.getElementById("nav"), {}, [h("ul", {}, PAGES.map(([name, title]) => h("li", {}, h("a", { href: `#${name}` }, title))))]);
fill(document.getElementById("foot"), {}, [h("p", {}, `Made by wowspec ${data.version}.`)]);
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
document.addEventListener("click", (event) => {
  const link = event.target.closest && event.target.closest("a[href^='#']");
  if (link && !link.classList.contains("skip")) clicked = true;
});
history.scrollRestoration = "manual";
addEventListener("hashchange", show);
show();
document.documentElement.dataset.ready = "yes";
