// The first page: whether all is well, the numbers, and what needs somebody's attention.

const tile = (value, text, href, tone) => h(href ? "a" : "div", { class: `tile ${tone || ""}`.trim(), href }, h("b", {}, value), h("span", {}, text));

function verdict() {
  const due = faults ? faults.counts.domain : 0;
  if (failedTests.length) return `${number(failedTests.length)} of ${several(tests.length, "test")} failed`;
  if (due) return `All tests passed, and ${several(due, "failure ordering")} ${due === 1 ? "breaks" : "break"} a law`;
  // pytest counts the others, too.
  const which = data.others ? " with specs" : "";
  return tests.length === 1 ? `The one test${which} passed` : tests.length ? `All ${number(tests.length)} tests${which} passed` : "No test made a spec";
}

function tiles() {
  const found = [
    tile(number(tests.length), tests.length === 1 ? "test" : "tests", "#specs"),
    tile(number(data.outcomes.passed || 0), "passed", "#specs", "good"),
  ];
  if (data.specs !== tests.length) found.splice(1, 0, tile(number(data.specs), data.specs === 1 ? "spec" : "specs", "#specs"));
  if (data.others) found.push(tile(number(data.others), data.others === 1 ? "other test, without a spec" : "other tests, without specs"));
  if (failedTests.length) found.push(tile(number(failedTests.length), "failed", "#specs-failed", "bad"));
  for (const outcome of ["skipped", "xfailed"]) {
    if (data.outcomes[outcome]) found.push(tile(number(data.outcomes[outcome]), outcomeOf(outcome)[0], "#specs"));
  }
  if (faults) {
    found.push(tile(number(faults.plans), faults.plans === 1 ? "plan of faults run" : "plans of faults run", "#faults"));
    if (data.faults.coverage !== null) found.push(tile(`${Math.floor(faults.coverage)} %`, "of the possible faults explored", "#faults"));
    found.push(tile(number(faults.counts.domain), faults.counts.domain === 1 ? "finding due to the domain" : "findings due to the domain", "#findings", faults.counts.domain ? "bad" : ""));
    if (faults.counts.declared) found.push(tile(number(faults.counts.declared), faults.counts.declared === 1 ? "declared finding" : "declared findings", "#findings-declared"));
    if (faults.counts.healed) found.push(tile(number(faults.counts.healed), "healed by the application", "#findings-healed"));
    if (faults.counts.known) found.push(tile(number(faults.counts.known), "known to the runtime", "#findings-known"));
  }
  if (data.strength && data.strength.strength !== null) found.push(tile(`${Math.floor(data.strength.strength)} %`, "strength of specs", "#strength"));
  if (data.unreachable) found.push(tile(number(data.unreachable.unreached.length), "givens not reached", "#givens"));
  return h("div", { class: "tiles" }, found);
}

function failedCard(test) {
  const lines = (test.failure || "").split("\n").filter((line) => line.trim());
  return h("li", { class: "card bad" },
    h("h3", {}, h("a", { href: `#${test.key}` }, said(test.title))),
    h("p", { class: "facts" }, outcomeBadge(test.outcome), code(test.place || `${test.file}:${test.line}`)),
    lines.length ? block(lines.slice(0, 3).join("\n"), { tone: "bad", label: "The beginning of the failure" }) : null);
}

// What needs attention stands before the numbers: no more of it than leaves them in sight.
const MOST_CARDS = 5;
// What a sweep found fails its tests: the findings say more of it than the tests.
const isByFinding = (test) => (test.failure || "").startsWith("wowspec: ") && (test.findings || []).some((key) => findings.get(key).group.sort === "domain");

function attention() {
  const due = groupsOf("domain");
  const byFinding = failedTests.filter(isByFinding);
  const others = failedTests.filter((test) => !byFinding.includes(test));
  return [
    others.length ? [h("h2", {}, "What failed"), h("ul", {}, others.slice(0, MOST_CARDS).map(failedCard)),
      others.length > MOST_CARDS ? h("p", {}, h("a", { href: "#specs-failed" }, `All ${number(failedTests.length)} of them`)) : null] : null,
    due.length ? [h("h2", {}, "Failure orderings that break a law"),
      byFinding.length ? h("p", { class: "muted" }, h("a", { href: "#specs-failed" }, several(byFinding.length, "test")), byFinding.length === 1 ? " fails for them." : " fail for them.") : null,
      h("ul", {}, due.slice(0, MOST_CARDS).map((group) => groupCard(group))),
      due.length > MOST_CARDS ? h("p", {}, h("a", { href: "#findings" }, `All ${number(due.length)} groups`)) : null] : null,
  ];
}

// Each aggregate or processor with the tests that are about it.
function subjects() {
  const found = new Map();
  for (const test of tests) {
    for (const spec of specsOf(test)) {
      const key = `${spec.context || ""}\n${spec.subject || ""}`;
      if (!found.has(key)) found.set(key, { name: spec.subject || "–", context: spec.context || "", tests: new Set(), specs: 0 });
      const row = found.get(key);
      row.tests.add(test);
      row.specs += 1;
    }
  }
  return [...found.values()].sort((a, b) => (a.context < b.context ? -1 : a.context > b.context ? 1 : a.name < b.name ? -1 : 1));
}

function subjectTable() {
  const rows = subjects();
  if (!rows.length) return null;
  const heads = [["What it is about"], ["context"], ["tests", "number"], ["specs", "number"], ["failed", "number"]];
  return [h("h2", {}, "By aggregate and processor"),
    table(heads, rows.map((row) => h("tr", {},
      h("th", { scope: "row" }, h("a", { href: `#specs-of-${inAddress(row.name)}` }, said(row.name))),
      h("td", {}, row.context ? said(row.context) : "–"),
      h("td", { class: "number" }, number(row.tests.size)),
      h("td", { class: "number" }, number(row.specs)),
      h("td", { class: "number" }, number([...row.tests].filter(isFailed).length)))), { label: "Tests by aggregate and processor" })];
}

const ASKED = [
  [() => !faults, "Failure orderings", "pytest --wowspec-faults=sweep", "runs each spec again under every fault that can happen on its way"],
  [() => !data.strength, "Strength", "pytest --wowspec-strength", "tells which changes of the system no spec would notice"],
  [() => !data.unreachable, "Givens", "pytest --wowspec-unreachable", "tells which given histories no command was found to produce"],
];

function unasked() {
  const missing = ASKED.filter(([isMissing]) => isMissing());
  if (!missing.length) return null;
  return [h("h2", {}, "Not asked for this time"),
    h("ul", { class: "rows" }, missing.map(([, name, option, what]) => h("li", {},
      h("div", { class: "row" }, h("span", { class: "what" }, h("b", {}, name), " – ", code(option), ` ${what}.`)))))];
}

function overview() {
  return {
    title: "Overview",
    body: [
      h("h1", { tabindex: "-1" }, verdict()),
      h("p", { class: "lead" }, "What the specs of ", said(data.title), " say, what came of them, and what faults do to them."),
      attention(), tiles(), subjectTable(), unasked(),
    ],
  };
}
