// How faithful the model is to the runtime: numbers by area, and what is left out.

function fidelityPage() {
  const { runtime, columns, areas, all, left_out: leftOut, differences } = data.fidelity;
  const [whole, pinned, open] = all;
  const heads = columns.map((name, place) => [name, place > 1 ? "number" : null]);
  const cells = ([name, clauses, ...counts]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, code(clauses)), counts.map((count) => h("td", { class: "number" }, count ? number(count) : "–")));
  return {
    title: "Fidelity",
    body: [
      h("h1", { tabindex: "-1" }, "How faithful the model is"),
      h("p", { class: "lead" }, `The specs run on a model of ${runtime}. Its behaviour contract has ${number(whole)} clauses: ${number(pinned)} are pinned by tests or by recorded cases of the real runtime, ${open ? `${number(open)} are open, and ` : ""}${number(whole - pinned - open)} are left out.`),
      h("div", { class: "tiles" }, tile(number(whole), "clauses"), tile(number(pinned), "pinned", null, "good"), tile(number(open), "open"), tile(number(whole - pinned - open), "left out")),
      h("h2", {}, "What is left out"),
      table([["clauses"], ["why"]], leftOut.map(([clauses, why]) => h("tr", {}, h("td", {}, code(clauses)), h("td", {}, why))), { label: "What is left out" }),
      h("h2", {}, "Where a spec differs on purpose"),
      h("p", { class: "muted" }, "What a spec says, expects and refuses is this kit's own."),
      table([["in a spec"], ["in the runtime"], ["why"]], differences.map((row) => h("tr", {}, row.map((text) => h("td", {}, plain(text))))), { label: "Where a spec differs on purpose" }),
      h("h2", {}, "Area by area"),
      table(heads, areas.map(cells), { label: "Clauses by area" }),
    ],
  };
}

// Backticks mark code, as in the page that the texts come from.
function plain(text) {
  return text.split("`").map((part, place) => (place % 2 ? h("code", {}, part) : part));
}
