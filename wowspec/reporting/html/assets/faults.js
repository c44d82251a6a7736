// The matrix of faults and its cells.

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
  if (!total) return h("td", {}, h("a", { class: "cell blank", href: cellHref(cell), title: "possible, and never struck: why?" }, h("span", { "aria-hidden": "true" }, "–"), h("span", { class: "unseen" }, `${kind} at ${point}: never struck`)));
  const names = classesOf(outcomes), worst = classOf.get(names[0]);
  const text = `${kind} at ${point}: ${wordsOfClasses(outcomes)}`;
  return h("td", {}, h("a", { class: `cell ${worst.tone}`, href: cellHref(cell), title: text, "aria-label": text },
    h("b", {}, number(outcomes[names[0]])), h("span", { class: "worst" }, worst.letter),
    names.length > 1 ? h("span", { class: "of" }, ` of ${number(total)}`) : null,
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

// What else a cell may look like.
const SIGNS = [["–", "can happen there, and no plan struck: the cell says why"], ["blank", "cannot happen there"]];

// What stands at the sides of the matrix, where no pointer can hover.
function sides() {
  const { points, kinds } = faults.matrix;
  const list = (pairs) => h("dl", { class: "legend" }, pairs.map(([name, text]) => [h("dt", {}, code(name)), h("dd", {}, text)]));
  return folded("What the columns and rows mean", () => [h("h3", {}, "Kinds of faults"), list(kinds), h("h3", {}, "Points"), list(points)], { class: "fold small" });
}

// Why no plan struck where one could.
function whyNever(point, kind) {
  const { cells } = faults.matrix;
  const isPassed = Object.keys(cells).some((cell) => partsOfCell(cell)[0] === point && totalOf(cells[cell]));
  if (!isPassed) return "No swept spec passes this point.";
  if (kind === "hang") return "Only what is awaited can hang, and what is called here are plain functions.";
  if (kind === "rival") return "A rival is sent only where laws alone judge: not in specs with conditions of their own, unless kinds= names it.";
  return "The points and kinds that were asked for leave it out, or a bound does.";
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
  const [struck, possible] = faults.pairs;
  const covered = faults.coverage === null ? "" : ` ${number(struck)} of ${number(possible)} pairs of a point and a kind of fault were struck (${Math.floor(faults.coverage)} %).`;
  return {
    title,
    body: [
      h("h1", { tabindex: "-1" }, title),
      h("p", { class: "lead" }, `${several(faults.swept, "spec")}${same} ran again under ${several(faults.plans, "plan")} of faults.${covered} A cell says how many plans came to the worst outcome there, of how many, and leads to its findings.`),
      matrix(),
      h("p", { class: "signs muted small" }, SIGNS.map(([sign, text]) => h("span", {}, h("b", {}, sign), ` ${text}`))),
      h("h2", {}, "How the plans came out"),
      legend(faults.outcomes),
      h("p", {}, h("a", { href: "#findings" }, "All findings"), h("span", { class: "muted" }, ": what breaks a law, in groups that say the same.")),
      sides(),
      glossary(),
      listed("Left out by bounds", faults.left.map(([id, count, bound]) => h("span", { class: "what" }, testLink(id, id), `: ${several(count, "plan")}, by ${bound}`))),
      listed("Told besides", faults.told.map(([what, id, text]) => h("span", { class: "what" }, testLink(id, id), `: ${what}: `, code(text)))),
      notSwept(),
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
      totalOf(outcomes) ? [h("h2", {}, several(totalOf(outcomes), "plan")), legend(outcomes)] : h("p", {}, "It can happen, and no plan struck here. ", whyNever(point, kind)),
      here.length ? sorted(here, cell) : totalOf(outcomes) ? h("p", { class: "muted" }, "No law broke here.") : null,
    ],
  };
}
