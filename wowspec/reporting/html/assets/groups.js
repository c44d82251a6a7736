// Findings in groups: as cards, as lists, by sort.

// What the words of this page mean.
function glossary() {
  return folded("Words on these pages", () => h("dl", { class: "legend" }, faults.terms.map(([term, text]) => [h("dt", {}, term), h("dd", {}, text)])), { class: "fold small" });
}

const isIn = (finding, cell) => !cell || finding.faults.some((fault) => fault.cell === cell);

function memberRow(finding) {
  return h("li", {}, h("a", { class: "row", href: `#${finding.key}` }, h("span", { class: "what" }, said(finding.name)), h("span", { class: "aside" }, code(finding.plan))));
}

function otherRow([place, id, plan, , more]) {
  const test = tests[place], name = nameOf(words[id]);
  const line = `pytest ${shellWord(words[id])} --wowspec-plan '${words[plan]}'${more || ""}`;
  return h("li", {}, h("div", { class: "row" },
    h("span", { class: "what" }, test ? h("a", { href: `#${test.key}` }, said(name)) : code(words[id])),
    h("span", { class: "aside" }, code(words[plan])), copyButton(line, `the replay line of ${name}`)));
}

const MOST_ROWS = 50;

// A list that grows when somebody asks for more of it.
function growing(items, draw) {
  const list = h("ul", { class: "rows" }), told = h("p", { class: "muted small" }), shown = h("span", { role: "status" });
  let count = 0;
  const more = h("button", { type: "button", class: "button" }, "Show more");
  const grow = () => {
    fill(list, {}, items.slice(count, count + MOST_ROWS).map(draw));
    count = Math.min(items.length, count + MOST_ROWS);
    shown.textContent = `${number(count)} of ${number(items.length)} shown. `;
    more.hidden = count === items.length;
  };
  more.addEventListener("click", grow);
  grow();
  return items.length > MOST_ROWS ? [list, fill(told, {}, [shown, more])] : list;
}

// Which of a group's findings the page has: those with pages of their own, and others of which test and plan are kept.
function kept(group, cell) {
  const place = Object.keys(group.cells).indexOf(cell);
  return [group.findings.filter((finding) => isIn(finding, cell)), group.others.filter(([, , , cells]) => !cell || cells.includes(place))];
}

function howMany([told, others], count) {
  const here = told.length + others.length;
  if (here < count) return `${number(here)} of ${number(count)}`;
  return count === 2 ? "Both of them" : `All ${number(count)} of them`;
}

// They are two sorts of rows: what they lead to differs.
function members(group, cell) {
  const [told, others] = kept(group, cell);
  const left = (cell ? group.cells[cell] : group.count) - told.length - others.length;
  return [
    h("p", { class: "muted small" }, group.sort === "known" ? "One of each place, told in full:" : "Told in full:"), growing(told, memberRow),
    others.length ? [h("p", { class: "muted small later" }, "The others say the same. Each leads to its test; its replay line gives the whole report:"), growing(others, otherRow)] : null,
    left > 0 ? h("p", { class: "muted small" }, `${number(left)} more are in the JSON report: --wowspec-report=json:PATH.`) : null,
  ];
}

// How many findings of a group strike in which cells.
function cellsOf(group) {
  const MOST = 12;
  const chips = Object.entries(group.cells).map(([cell, count]) => {
    const [point, kind] = partsOfCell(cell);
    return h("a", { class: "chip", href: cellHref(cell) }, `${kind} at ${point}`, count > 1 ? h("span", { class: "number muted" }, ` × ${number(count)}`) : null);
  });
  return [h("p", { class: "chips" }, chips.slice(0, MOST)),
    chips.length > MOST ? folded(`${number(chips.length - MOST)} more places`, () => h("p", { class: "chips" }, chips.slice(MOST))) : null];
}

const wayOf = (text) => h("code", { dir: "auto" }, text.replaceAll(">", " › "));
const lawTags = (laws) => laws.map((law) => h("span", { class: "tag", title: faults.laws[law] }, "law: ", law));

// A group as a whole, or as much of it as strikes in one cell.
function groupCard(group, cell) {
  const first = group.findings.find((finding) => isIn(finding, cell)) || group.findings[0];
  const [text, tone] = SORTS[group.sort];
  const count = cell ? group.cells[cell] : group.count;
  const where = !cell && group.tests > 1 ? `${several(count, "plan")} in ${several(group.tests, "test")}` : several(count, "plan");
  const byWay = group.sort === "domain" || group.sort === "declared";
  const heals = group.heals.map(([how, times]) => (times === group.count ? how : `${how}: ${number(times)}`)).join(" · ");
  return h("li", { class: group.sort === "domain" ? "card bad" : "card" },
    h("h3", {}, h("a", { href: `#${first.key}` }, said(byWay && isIn(group.findings[0], cell) ? group.title : byWay ? first.headline : group.title))),
    group.why ? h("p", {}, group.why) : null,
    h("p", { class: "facts" }, badge(text, tone), byWay ? wayOf(group.place) : null, where, lawTags(cell ? first.broken.map((item) => item.title) : group.laws)),
    byWay && first.functions.length ? h("p", { class: "small" }, "Look at ", first.functions.map((place, at) => [at ? ", " : "", code(place)]), ".") : null,
    cell ? h("p", { class: "small muted" }, capital(first.heals), ".") : h("p", { class: "small muted" }, capital(heals), "."),
    cell ? null : cellsOf(group),
    count > 1 ? folded(howMany(kept(group, cell), count), () => members(group, cell)) : null);
}

const SECTIONS = [
  ["declared", "Declared", "Their authors know of these; a test fails when one of them is gone."],
  ["healed", "Healed by the application", "A law broke, and a recovery that the application has repairs it."],
  ["known", "Known to the runtime", "wowspec runs each fault over a small domain without defects, too. These laws break there as well, at the same places: your code is not the cause, and no test fails for them. --wowspec-strict makes tests fail for them."],
];

// Groups by sort: those that somebody must mend open, the others folded, but for the one that an address names.
function sorted(chosen, cell, opened) {
  const alone = cell && new Set(chosen.map((group) => group.sort)).size === 1;
  const card = (group) => groupCard(group, cell);
  const of = (sort) => chosen.filter((group) => group.sort === sort);
  const count = (list) => list.reduce((sum, group) => sum + (cell ? group.cells[cell] : group.count), 0);
  const fold = ([sort, title, text]) => {
    const list = of(sort);
    return list.length ? folded([title, h("small", {}, several(count(list), "finding"))], () => [h("p", { class: "muted" }, text), h("ul", {}, list.map(card))],
      { class: "fold", open: alone || opened === sort, "data-sort": sort }) : null;
  };
  return [
    of("domain").length ? [h("h2", {}, "Due to the domain"), h("ul", {}, of("domain").map(card))] : null,
    SECTIONS.map(fold),
  ];
}

function findingsPage(opened) {
  const title = "Findings";
  if (!faults) return { title, current: "findings", body: [h("h1", { tabindex: "-1" }, title), unexplored()] };
  const due = faults.counts.domain;
  return {
    title,
    current: "findings",
    body: [
      h("h1", { tabindex: "-1" }, title),
      h("p", { class: "lead" }, due
        ? `Under ${several(due, "plan")} of faults a law breaks because of the domain's own code.`
        : "No plan of faults breaks a law because of the domain's own code."),
      sorted(groups, null, opened),
      glossary(),
    ],
    target: opened ? `[data-sort="${opened}"]` : null,
  };
}
