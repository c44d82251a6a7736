// One test: its specs in words, what came of them, and their stories.

const SHOWN_AS = { given: "Given", when: "When", then: "Then", with: "With" };
const CAME_TO = { succeeded: ["command succeeded", "good", "✓"], failed: ["command failed", "plain", ""], unknown: ["outcome unknown to the sender", "warn", "?"] };

function stepList(steps) {
  let before = "";
  return h("ol", { class: "steps" }, steps.map((step) => {
    // What goes wrong on the way is a sentence of its own.
    const word = step.code.startsWith("with_faults(") ? "While" : SHOWN_AS[step.keyword] || step.keyword;
    const first = word !== before;
    before = word;
    return h("li", { class: step.failed ? `${step.keyword} broken` : step.keyword },
      h("span", { class: first ? "word first" : "word" }, first ? word : "and"),
      h("div", {}, said(step.sentence || step.code), step.failed ? [" ", badge("does not hold", "bad", "✗")] : null,
        step.details.map((detail) => h("div", { class: "item" }, said(detail)))));
  }));
}

const LEDGERS = ["emitted", "stored", "published", "delivered"];

function ledgerLine(run) {
  const whole = run.step === -1 ? "in the whole run: " : "";
  const parts = LEDGERS.filter((name) => run.ledgers && name in run.ledgers).map((name) => `${name} ${number(run.ledgers[name])}`);
  if (run.attempts > 1) parts.push(`processed ${number(run.attempts)} times`);
  return parts.length ? h("span", { class: "number" }, whole, parts.join(" · ")) : null;
}

const cameTo = (run) => badge(...(CAME_TO[run.outcome] || [run.outcome, "plain", ""]));

function runParts(run, name) {
  return [
    (run.faults || []).length ? h("p", { class: "facts" }, "Faults that struck: ", run.faults.map((fault) => code(fault))) : null,
    run.schedule ? block(run.schedule, { title: "The order that came to this", what: "the schedule" }) : null,
    diagram(run, name),
    (run.events || []).length ? folded(several(run.events.length, "event"), () => block(run.events.join("\n"), { label: "Events" })) : null,
    (run.sent || []).length ? folded(`${several(run.sent.length, "command")} sent by sagas`, () => block(run.sent.join("\n"), { label: "Commands sent by sagas" })) : null,
  ];
}

const runFacts = (run) => h("p", { class: "facts" }, cameTo(run), ledgerLine(run), run.error ? said(run.error) : null);

function runSection(run, name) {
  return h("section", { class: "run" }, h("h3", {}, name), runFacts(run), runParts(run, name));
}

// Of many runs each is opened when somebody asks for it.
function foldedRun(run, name) {
  return folded([name, " ", cameTo(run)], () => [h("p", { class: "facts" }, ledgerLine(run), run.error ? said(run.error) : null), runParts(run, name)], { class: "fold run" });
}

const MOST_OPEN = 3;

function stories(spec, allOpen) {
  const runs = spec.runs || [];
  return runs.map((run, place) => {
    const what = run.command ? run.command.split(/[^\w.]/)[0] || "it" : `step ${run.step + 1}`;
    const plain = faults && !(run.faults || []).length ? ", without faults" : "";
    const name = `What came of ${what}${plain}${runs.length > 1 ? ` (${place + 1} of ${runs.length})` : ""}`;
    return allOpen ? runSection(run, name) : foldedRun(run, name);
  });
}

function codeOf(spec) {
  const lines = stepsOf(spec).map((step) => step.code).filter(Boolean);
  return lines.length ? folded("The code of these steps", () => block(lines.join("\n"), { what: "the code", label: "The code of these steps", title: "Code" })) : null;
}

// What a scenario says besides the title of its test.
function scenarioOf(spec, test) {
  const scenario = spec.scenario || "";
  const rest = scenario.startsWith(test.title) ? scenario.slice(test.title.length).replace(/^[:.,\s]+/, "") : scenario;
  return capital(rest);
}

function specSection(spec, test, alone) {
  const about = [spec.subject, spec.context].filter(Boolean).join(" · ");
  const title = scenarioOf(spec, test) || (alone ? "In words" : "The spec");
  return h("section", {},
    h("h2", {}, said(title)),
    h("div", { class: "scenario" }, about ? h("p", { class: "facts" }, said(about)) : null, stepList(stepsOf(spec)), codeOf(spec)),
    faults && (spec.runs || []).some((run) => rowsOf(run).some((row) => row.role === "event")) ? h("p", { class: "muted small" }, "Projections' writes and calls of services are passed only where faults look for them: the stories of findings show them.") : null,
    stories(spec, specsOf(test).reduce((sum, each) => sum + (each.runs || []).length, 0) <= MOST_OPEN),
    spec.left_out ? h("p", { class: "muted" }, `${several(spec.left_out, "more run")} of this spec ${spec.left_out === 1 ? "is" : "are"} left out.`) : null);
}

function neighbours(test) {
  const place = tests.indexOf(test);
  const to = (other, text) => (other ? h("a", { class: "button", href: `#${other.key}`, title: other.title }, text) : null);
  return h("nav", { class: "tools", "aria-label": "Other specs" }, to(tests[place - 1], "← Previous"), to(tests[place + 1], "Next →"), h("a", { class: "button", href: "#specs" }, "All specs"));
}

// How the plans of a sweep came out for this test.
function sweptHere(test) {
  if (!faults || !test.swept) return null;
  const { plans, outcomes, why } = test.swept;
  const found = foundHere(test);
  if (!plans && !found) return [h("h2", {}, "Under faults"), h("p", { class: "muted" }, why ? ["Not swept: ", said(why), "."] : "No plan of faults was run.")];
  return [
    h("h2", {}, "Under faults"),
    h("p", {}, `It ran again under ${several(plans, "plan")} of faults: ${wordsOfClasses(outcomes)}.`, FOUND.some(([sort]) => countOf(test, sort)) ? "" : " Nothing that your code causes broke a law."),
    found,
    folded("What these words mean", () => legend(outcomes)),
  ];
}

function foundHere(test) {
  const found = (test.findings || []).map((key) => findings.get(key)).filter(({ group }) => group.sort !== "known");
  if (!found.length) return null;
  return [h("ul", { class: "rows" }, found.map(({ finding, group }) => h("li", {},
    h("a", { class: "row", href: `#${finding.key}` },
      badge(SORTS[group.sort][0], SORTS[group.sort][1]),
      h("span", { class: "what" }, said(finding.headline)), h("span", { class: "aside" }, code(finding.faults.map((fault) => `${fault.point}=${fault.said}`).join("; ")))))))];
}

const MOST_SPECS = 5;

function specPage(key) {
  const test = byKey.get(key);
  if (!test) return null;
  const specs = specsOf(test);
  const again = `pytest ${shellWord(test.id)}`;
  return {
    title: test.title,
    current: "specs",
    body: [
      h("p", { class: "trail" }, h("a", { href: "#specs" }, "Specs"), " › ", said(test.file || "")),
      h("h1", { tabindex: "-1" }, said(test.title), caseOf(test)),
      h("p", { class: "facts" }, outcomeBadge(test.outcome), code(`${test.file}:${test.line}`), code(test.name)),
      test.failure ? [h("h2", {}, "Why it failed"), block(test.failure, { tone: "bad", title: test.place || "", what: "the failure", label: "The failure" })] : null,
      specs.slice(0, MOST_SPECS).map((spec) => specSection(spec, test, specs.length === 1)),
      specs.slice(MOST_SPECS).map((spec, place) => folded(scenarioOf(spec, test) || `Spec ${MOST_SPECS + place + 1}`, () => specSection(spec, test, false), { class: "fold" })),
      test.left_out ? h("p", { class: "muted" }, `${several(test.left_out, "more spec")} of this test ${test.left_out === 1 ? "is" : "are"} left out.`) : null,
      specs.length ? null : h("p", { class: "muted" }, "This test made no spec."),
      sweptHere(test),
      h("h2", {}, "Run it alone"), block(again, { what: "the command line", label: "The line that runs this test", title: "In a terminal" }),
      neighbours(test),
    ],
  };
}
