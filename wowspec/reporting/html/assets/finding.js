// One finding: what is wrong, what to do, the plan, the laws that it breaks, the ledgers, the test to paste, the story.

function planLine(fault) {
  const links = fault.chain.flatMap((link, place) => [place ? h("span", { class: "muted", "aria-hidden": "true" }, "›") : null, h("span", { class: "link" }, said(link))]);
  const visit = fault.visit > 1 ? `, visit ${fault.visit}` : "";
  return h("div", { class: "plan" }, links, h("span", { class: "muted" }, "at"), h("span", { class: "link" }, said(fault.point), visit),
    h("a", { class: "strike", href: cellHref(fault.cell) }, `✗ ${fault.said}`));
}

function brokenItem(item) {
  const [first, ...more] = item.text.split("\n");
  const badges = [item.declared ? badge("declared", "warn") : null, item.known ? badge("known to the runtime", "known") : null].filter(Boolean);
  return h("li", { class: "card" },
    h("h3", {}, item.title), badges.length ? h("p", { class: "facts" }, badges) : null,
    faults.laws[item.title] ? h("p", { class: "muted" }, `The law: ${faults.laws[item.title]}.`) : null,
    h("p", {}, said(first)), more.length ? block(more.join("\n"), { label: item.title }) : null);
}

const plainLine = (line) => line.replace(/^ +/, "");

const expected = (finding) => `expected=[${JSON.stringify(`${finding.plan} → ${finding.broken.map((item) => item.title).join(", ")}`)}]`;

// What helps: advice for what is due to the domain, recoveries for what the runtime is known for.
function remedy(finding, group) {
  const lines = finding.mend.map((place) => plainLine(words[place]));
  const instead = lines.filter((line) => line.startsWith("instead: ")).map((line) => line.slice("instead: ".length));
  const stays = lines.filter((line) => line.startsWith("if it is to stay so: ")).map((line) => line.slice("if it is to stay so: ".length));
  const recovery = finding.recovery;
  const doc = recovery && faults.recoveries[recovery];
  const how = recovery ? [h("b", {}, capital(recovery)), group.sort === "healed" ? " heals it" : " would heal it", doc ? `: ${doc}. ` : ". "] : null;
  if (group.sort === "known") {
    return [
      h("p", {}, group.why),
      how ? h("p", {}, how, "If your application does this, say so, and the finding counts as healed: ", code(`recovery=["${recovery}"]`), ".")
        : h("p", {}, "No recovery that wowspec knows heals it. There is nothing to mend in the domain; know that it can happen."),
    ];
  }
  return [
    finding.functions.length ? h("p", {}, "Look at ", finding.functions.map((place, at) => [at ? ", " : "", code(place)]), ".") : null,
    how ? h("p", {}, how) : null,
    instead.length ? h("p", {}, h("b", {}, "Instead: "), instead.map((text) => said(text))) : null,
    stays.length ? [h("p", {}, h("b", {}, "If it is to stay so: "), stays.map((text) => said(text)), "."), block(expected(finding), { what: "the declaration", title: "As an argument of @explore_faults", label: "The declared finding" })] : null,
  ];
}

// A replay is strict: it fails for what the runtime is known for, too.
const replayNote = (group) => (group.sort === "known"
  ? h("p", { class: "note" }, "This line fails on purpose: a replay is strict, and fails with the whole report. In a sweep this finding fails no test.")
  : null);

// As the terminal shows it.
function wholeReport(finding) {
  const at = (places) => places.map((place) => words[place]);
  const pin = finding.paste ? ["  pin it:", ...finding.paste.split("\n").map((line) => `    ${line}`.trimEnd())] : [];
  return [...at(finding.report), ...pin, ...at(finding.mend)].join("\n");
}

function neighboursOf(finding, group) {
  const place = group.findings.indexOf(finding);
  const to = (other, text) => (other ? h("a", { class: "button", href: `#${other.key}` }, text) : null);
  return h("nav", { class: "tools", "aria-label": "Other findings" }, to(group.findings[place - 1], "← Previous of its group"), to(group.findings[place + 1], "Next of its group →"), h("a", { class: "button", href: "#findings" }, "All findings"));
}

function findingPage(key) {
  const found = findings.get(key);
  if (!found) return null;
  const { finding, group } = found;
  const lines = (places) => places.map((place) => words[place]);
  const count = finding.faults.length || finding.plan.split(";").length;
  const [text, tone] = SORTS[group.sort];
  const laws = finding.broken.map((item) => item.title).join(", ");
  return {
    title: `${finding.headline} (${finding.name})`,
    current: "findings",
    body: [
      h("p", { class: "trail" }, h("a", { href: "#findings" }, "Findings"), " › ", testLink(finding.id, finding.name)),
      h("h1", { tabindex: "-1" }, said(finding.headline)),
      h("p", { class: "lead" }, several(count, "fault"), count === 1 ? " breaks " : " break ", laws, "."),
      h("p", { class: "facts" }, badge(text, tone), finding.heals, finding.profile !== "in_memory" ? `profile ${finding.profile}` : null),
      h("h2", {}, "What to do"), h("div", { class: "card" }, remedy(finding, group)),
      h("h2", {}, "The plan"),
      finding.faults.length ? finding.faults.map(planLine) : block(finding.plan),
      h("p", { class: "muted" }, "In the spec ", testLink(finding.id), finding.also.length ? `, and in ${several(finding.also.length, "test")} with the same steps` : "", "."),
      block(finding.replay, { what: "the replay line", title: "Replay it", label: "The line that replays it" }), replayNote(group),
      h("h2", {}, finding.broken.length === 1 ? "The law that breaks" : "The laws that break"),
      h("ul", {}, finding.broken.map(brokenItem)),
      finding.told.length ? [h("h2", {}, "Who was told what, and what each ledger holds"), h("p", { class: "muted" }, "For each command whose numbers differ from the run without faults: events emitted, stored, published, delivered."), block(lines(finding.told).map((line) => line.replace(/^ {2}/, "")).join("\n"), { scrolls: true, label: "Ledgers" })] : null,
      h("h2", {}, "Its story"),
      finding.run ? [h("p", { class: "facts" }, cameTo(finding.run), finding.broken.map((item) => badge(`${item.title} broken`, tone, "✗")), ledgerLine(finding.run), finding.run.error ? said(finding.run.error) : null), runParts(finding.run, "The run under this plan")] : h("p", { class: "muted" }, group.findings[0].run && group.findings[0] !== finding
        ? ["The page keeps the stories of the first findings of a group: see ", h("a", { href: `#${group.findings[0].key}` }, "the first one of this group"), ", or replay this one with ", code("-vv"), "."]
        : ["The page keeps no story of it: replay it with ", code("-vv"), "."]),
      finding.paste ? [h("h2", {}, "Pin it"), block(finding.paste, { what: "the test", title: "A test to paste", scrolls: true, label: "A test to paste" })] : null,
      finding.report.length ? folded("The whole report as text", () => block(wholeReport(finding), { scrolls: true, what: "the report", title: "Report" })) : null,
      glossary(),
      neighboursOf(finding, group),
    ],
  };
}
