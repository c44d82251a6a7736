// The matrix of faults, its cells, and the findings in groups.

const cellHref = (cell) => `#cell-${inAddress(cell)}`;
// A kind has no "--" in its name; a point of somebody's own may have.
const partsOfCell = (cell) => [cell.slice(0, cell.lastIndexOf("--")), cell.slice(cell.lastIndexOf("--") + 2)];
const wordsOfClasses = (outcomes) => classesOf(outcomes).map((name) => `${number(outcomes[name])} ${name}`).join(", ");
const totalOf = (outcomes) => Object.values(outcomes).reduce((sum, count) => sum + count, 0);

function matrixCell(point, kind) {
  const cell = `${point}--${kind}`;
  const outcomes = faults.matrix.cells[cell];
  if (!outcomes) return h("td", {});
  const total = totalOf(outcomes);
  if (!total) return h("td", {}, h("span", { class: "blank", title: "possible, and never struck" }, h("span", { "aria-hidden": "true" }, "–"), h("span", { class: "unseen" }, "never struck")));
  const names = classesOf(outcomes), worst = classOf.get(names[0]);
  const text = `${kind} at ${point}: ${wordsOfClasses(outcomes)}`;
  return h("td", {}, h("a", { class: `cell ${worst.tone}`, href: cellHref(cell), title: text, "aria-label": text },
    number(total), h("span", { class: "worst" }, worst.letter),
    h("span", { class: "parts", "aria-hidden": "true" }, names.map((name) => {
      const part = h("i", { class: classOf.get(name).tone });
      part.style.flexGrow = String(outcomes[name]);
      return part;
    }))));
}

function matrix() {
  const { points, kinds } = faults.matrix;
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Faults by point and kind" },
    h("table", { class: "matrix" },
      h("caption", { class: "unseen" }, "How many plans struck at each point with each kind of fault, and the worst that came of it"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "point"), kinds.map(([kind, meaning]) => h("th", { scope: "col", title: meaning }, h("span", {}, breakable(kind)))))),
      h("tbody", {}, points.map(([point, doc]) => h("tr", {}, h("th", { scope: "row", title: doc }, breakable(point)), kinds.map(([kind]) => matrixCell(point, kind)))))));
}

function legend(outcomes) {
  const names = [...classOf.keys()].filter((name) => !outcomes || outcomes[name]);
  return h("dl", { class: "legend" }, names.map((name) => {
    const { letter, meaning, tone } = classOf.get(name);
    return [h("dt", {}, h("span", { class: `mark ${tone}`, "aria-hidden": "true" }, letter), " ", name, outcomes ? h("span", { class: "muted number" }, ` ${number(outcomes[name])}`) : null), h("dd", {}, meaning)];
  }));
}

const unexplored = () => [
  h("p", { class: "lead" }, "Nothing was explored. This option runs each spec again under every single fault that can happen on its way:"),
  block("pytest --wowspec-faults=sweep", { what: "the command line", title: "In a terminal" }),
];

function listed(title, lines) {
  return lines.length ? folded([title, h("small", {}, number(lines.length))], () => h("ul", { class: "rows" }, lines.map((line) => h("li", {}, h("div", { class: "row" }, line)))), { class: "fold" }) : null;
}

function notSwept() {
  return faults.not_swept.map(([why, ids]) => folded([`Not swept: ${why}`, h("small", {}, several(ids.length, "test"))],
    () => h("ul", { class: "rows" }, ids.map((id) => h("li", {}, h("div", { class: "row" }, h("span", { class: "what" }, testLink(id, id)))))), { class: "fold" }));
}

function faultsPage() {
  const title = "Failure orderings";
  if (!faults) return { title, current: "faults", body: [h("h1", { tabindex: "-1" }, title), unexplored()] };
  const same = faults.same ? ` (${number(faults.same)} more have the same steps)` : "";
  const covered = faults.coverage === null ? "" : ` ${Math.floor(faults.coverage)} % of the faults that can happen were explored.`;
  return {
    title,
    body: [
      h("h1", { tabindex: "-1" }, title),
      h("p", { class: "lead" }, `${several(faults.swept, "spec")}${same} ran again under ${several(faults.plans, "plan")} of faults.${covered} Each cell leads to its findings.`),
      matrix(),
      h("h2", {}, "How the plans came out"),
      legend(faults.outcomes),
      h("p", {}, h("a", { href: "#findings" }, "All findings"), h("span", { class: "muted" }, ": what breaks a law, in groups that say the same.")),
      listed("Left out by bounds", faults.left.map(([id, count, bound]) => h("span", { class: "what" }, testLink(id, id), `: ${several(count, "plan")}, by ${bound}`))),
      listed("Told besides", faults.told.map(([what, id, text]) => h("span", { class: "what" }, testLink(id, id), `: ${what}: `, code(text)))),
      notSwept(),
    ],
  };
}

// --- groups of findings ----------------------------------------------------------------------------------------------

function memberRow(finding) {
  return h("li", {}, h("a", { class: "row", href: `#${finding.key}` }, h("span", { class: "what" }, said(finding.name)), h("span", { class: "aside" }, code(finding.plan))));
}

function otherRow([place, id, plan]) {
  const test = tests[place];
  return h("li", {}, h("div", { class: "row" }, h("span", { class: "what" }, test ? h("a", { href: `#${test.key}` }, said(test.name)) : code(words[id])), h("span", { class: "aside" }, code(words[plan]))));
}

const MOST_OTHERS = 200;

function members(group, cell) {
  const isHere = (finding) => !cell || finding.faults.some((fault) => fault.cell === cell);
  const others = group.others.slice(0, MOST_OTHERS);
  const more = group.others.length - others.length;
  return h("ul", { class: "rows" }, group.findings.filter(isHere).map(memberRow), others.map(otherRow),
    more ? h("li", {}, h("div", { class: "row muted" }, `and ${number(more)} more, in --wowspec-report=json:PATH`)) : null);
}

// How many findings of a group strike in which cells.
function cellsOf(group) {
  return h("p", { class: "chips" }, Object.entries(group.cells).map(([cell, count]) => {
    const [point, kind] = partsOfCell(cell);
    return h("a", { class: "chip", href: cellHref(cell) }, `${kind} at ${point}`, count > 1 ? h("span", { class: "number muted" }, ` × ${number(count)}`) : null);
  }));
}

const wayOf = (text) => h("code", { dir: "auto" }, text.replaceAll(">", " › "));

// A group as a whole, or as much of it as strikes in one cell.
function groupCard(group, cell) {
  const first = group.findings.find((finding) => !cell || finding.faults.some((fault) => fault.cell === cell)) || group.findings[0];
  const [text, tone] = SORTS[group.sort];
  const count = cell ? group.cells[cell] : group.count;
  const where = !cell && group.tests > 1 ? `${several(count, "plan")} in ${several(group.tests, "test")}` : several(count, "plan");
  const byWay = group.sort === "domain" || group.sort === "declared";
  return h("li", { class: group.sort === "domain" ? "card bad" : "card" },
    h("h3", {}, h("a", { href: `#${first.key}` }, group.laws.join(", "))),
    h("p", { class: "facts" }, badge(text, tone), byWay ? wayOf(group.place) : code(group.place), where),
    byWay && first.broken.length ? h("p", {}, said(first.broken[0].text.split("\n")[0])) : null,
    byWay && !cell ? cellsOf(group) : null,
    count > 1 ? folded(count === 2 ? "Both of them" : `All ${number(count)} of them`, () => members(group, cell)) : null);
}

// Groups by sort: those that somebody must mend open, the others folded.
function sorted(chosen, cell) {
  const opens = cell && new Set(chosen.map((group) => group.sort)).size === 1;
  const card = (group) => groupCard(group, cell);
  const of = (sort) => chosen.filter((group) => group.sort === sort);
  const count = (list) => list.reduce((sum, group) => sum + (cell ? group.cells[cell] : group.count), 0);
  const fold = (sort, title, text) => {
    const list = of(sort);
    return list.length ? folded([title, h("small", {}, several(count(list), "finding"))], () => [h("p", { class: "muted" }, text), h("ul", {}, list.map(card))], { class: "fold", open: opens }) : null;
  };
  return [
    of("domain").length ? [h("h2", {}, "Due to the domain"), h("ul", {}, of("domain").map(card))] : null,
    fold("declared", "Declared", "Their authors know of these; a test fails when one of them is gone."),
    fold("healed", "Healed by the application", "A law broke, and a recovery that the application has makes it hold again."),
    fold("known", "Known to the runtime", "The runtime breaks these laws by itself, whatever the domain does; --wowspec-strict fails for them."),
  ];
}

function findingsPage() {
  const title = "Findings";
  if (!faults) return { title, body: [h("h1", { tabindex: "-1" }, title), unexplored()] };
  const due = faults.counts.domain;
  return {
    title,
    body: [
      h("h1", { tabindex: "-1" }, title),
      h("p", { class: "lead" }, due
        ? `${several(due, "plan")} of faults ${due === 1 ? "breaks" : "break"} a law, and the runtime is not known for it.`
        : "No plan of faults breaks a law that the runtime is not known for, or its author does not know of."),
      sorted(groups),
    ],
  };
}

function cellPage(cell) {
  if (!faults || !(cell in faults.matrix.cells)) return null;
  const [point, kind] = partsOfCell(cell);
  const outcomes = faults.matrix.cells[cell];
  const [, doc] = faults.matrix.points.find(([name]) => name === point) || [];
  const [, meaning] = faults.matrix.kinds.find(([name]) => name === kind) || [];
  const here = groups.filter((group) => cell in group.cells);
  return {
    title: `${kind} at ${point}`,
    current: "faults",
    body: [
      h("p", { class: "trail" }, h("a", { href: "#faults" }, "Failure orderings"), " › ", said(point)),
      h("h1", { tabindex: "-1" }, code(kind), " at ", code(point)),
      h("p", { class: "lead" }, doc ? `${capital(doc)}. ` : "", meaning ? `What goes wrong: ${meaning}.` : ""),
      totalOf(outcomes) ? [h("h2", {}, several(totalOf(outcomes), "plan")), legend(outcomes)] : h("p", {}, "It can happen, and no plan struck here."),
      here.length ? sorted(here, cell) : h("p", { class: "muted" }, "No law broke here."),
    ],
  };
}
