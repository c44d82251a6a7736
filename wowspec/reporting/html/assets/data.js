// The suite, as it was put into the page, and small questions about it.

const data = JSON.parse(document.getElementById("data").textContent);
const { tests, faults, words } = data;

const OUTCOMES = {
  failed: ["failed", "bad", "✗"],
  error: ["error", "bad", "✗"],
  xpassed: ["passed unexpectedly", "warn", "!"],
  xfailed: ["failed as expected", "known", "×"],
  skipped: ["skipped", "plain", "–"],
  passed: ["passed", "good", "✓"],
};
const FAILED = new Set(["failed", "error", "xpassed"]);
const SORTS = {
  domain: ["due to the domain", "bad"],
  declared: ["declared", "warn"],
  healed: ["healed by the application", "warn"],
  known: ["known to the runtime", "known"],
};

const outcomeOf = (outcome) => OUTCOMES[outcome] || [outcome, "plain", "?"];
const mark = (outcome) => {
  const [text, tone, sign] = outcomeOf(outcome);
  return h("span", { class: `mark ${tone}` }, h("span", { "aria-hidden": "true" }, sign), h("span", { class: "unseen" }, `${text}: `));
};
const outcomeBadge = (outcome) => badge(...outcomeOf(outcome));

const isFailed = (test) => FAILED.has(test.outcome);
const failedTests = tests.filter(isFailed);
const byKey = new Map(tests.map((test) => [test.key, test]));
const byId = new Map(tests.map((test) => [test.id, test]));
const specsOf = (test) => test.specs || [];
const subjectsOf = (test) => [...new Set(specsOf(test).map((spec) => spec.subject).filter(Boolean))];

const groups = faults ? faults.groups : [];
const findings = new Map();
for (const group of groups) for (const finding of group.findings) findings.set(finding.key, { finding, group });
const groupsOf = (sort) => groups.filter((group) => group.sort === sort);
const countOf = (test, sort) => (test.found || {})[sort] || 0;
const classOf = new Map((faults ? faults.classes : []).map(([name, letter, meaning, tone]) => [name, { letter, meaning, tone }]));
// Worst first, as the document has them.
const classesOf = (outcomes) => [...classOf.keys()].filter((name) => outcomes[name]);

const stepsOf = (spec) => (spec.steps || []).map((texts) => {
  const [keyword, sentence, code, wrong, ...details] = texts.map((text) => words[text]);
  return { keyword, sentence, code, failed: wrong !== "", details };
});

function rowsOf(run) {
  const rows = run.rows.map((cells) => {
    const row = {};
    data.columns.forEach(([name, isText], place) => { row[name] = isText ? words[cells[place]] : cells[place]; });
    return row;
  });
  const error = (run.error || "").split(":")[0];
  repeated(rows).forEach((again, place) => {
    const row = rows[place];
    row.again = again;
    // Whoever waits is told a code: it is the error's own, which the page names otherwise.
    const isCode = row.point.startsWith("wait.notify") && /^\w+$/.test(row.detail) && row.detail !== "succeeded";
    if (isCode && error && error !== row.detail && run.step >= 0) row.detail = `${error} (code ${row.detail})`;
  });
  return rows;
}

// Whether a function gets what it got before, by the places of rows.
function repeated(rows) {
  const seen = new Set();
  return rows.map((row) => {
    if (!row.point.startsWith("event.deliver") || row.subject < 0) return false;
    const key = `${row.subject} ${row.lane} ${row.point}`;
    const again = seen.has(key);
    seen.add(key);
    return again;
  });
}

// A link to a test, by its id; the id alone, where the page doesn't have it.
function testLink(id, text) {
  const test = byId.get(id);
  return test ? h("a", { href: `#${test.key}` }, said(text || test.title)) : code(id);
}
// As a shell takes it.
const shellWord = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);
const nameOf = (id) => id.slice(id.lastIndexOf("::") + 1).replace(/^:/, "");
