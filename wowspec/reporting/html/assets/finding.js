// One finding: the plan, the laws that it breaks, the ledgers, the line that replays it, the test to paste, the story.

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
    title: `${laws}: ${finding.name}`,
    current: "findings",
    body: [
      h("p", { class: "trail" }, h("a", { href: "#findings" }, "Findings"), " › ", testLink(finding.id, finding.name)),
      h("h1", { tabindex: "-1" }, several(count, "fault"), count === 1 ? " breaks " : " break ", laws),
      h("p", { class: "facts" }, badge(text, tone), `${finding.class}`, finding.profile !== "in_memory" ? `profile ${finding.profile}` : null),
      h("h2", {}, "The plan"),
      finding.faults.length ? finding.faults.map(planLine) : block(finding.plan),
      h("p", { class: "muted" }, "In the spec ", testLink(finding.id), finding.also.length ? `, and in ${several(finding.also.length, "test")} with the same steps` : "", "."),
      block(finding.replay, { what: "the replay line", title: "Replay it", label: "The line that replays it" }),
      h("h2", {}, finding.broken.length === 1 ? "The law that breaks" : "The laws that break"),
      h("ul", {}, finding.broken.map(brokenItem)),
      finding.told.length ? [h("h2", {}, "Who was told what, and what each ledger holds"), block(lines(finding.told).map((line) => line.replace(/^ {2}/, "")).join("\n"), { scrolls: true, label: "Ledgers" })] : null,
      h("h2", {}, "Its story"),
      finding.run ? [runFacts(finding.run), runParts(finding.run, "The run under this plan")] : h("p", { class: "muted" }, group.findings[0].run && group.findings[0] !== finding
        ? ["The page keeps the stories of the first findings of a group: see ", h("a", { href: `#${group.findings[0].key}` }, "the first one of this group"), ", or replay this one with ", code("-vv"), "."]
        : ["The page holds no story of it: replay it with ", code("-vv"), "."]),
      finding.paste ? [h("h2", {}, "Pin it"), block(finding.paste, { what: "the test", title: "A test to paste", scrolls: true, label: "A test to paste" })] : null,
      finding.report.length ? folded("The whole report as text", () => block(lines(finding.report).join("\n"), { scrolls: true, what: "the report", title: "Report" })) : null,
      neighboursOf(finding, group),
    ],
  };
}
