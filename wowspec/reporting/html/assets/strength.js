// What no spec would notice, what is given in vain, and what no command was found to produce.

function unseenCard(item) {
  const MOST = 5;
  return h("li", { class: "card" },
    h("h3", {}, said(item.name)),
    item.detail ? h("p", { class: "facts" }, said(item.detail)) : null,
    item.instead ? block(item.instead, { title: "This expectation would notice it", what: "the expectation" })
      : h("p", { class: "muted" }, "No expectation verb notices it: look at a service, or at a log."),
    h("p", { class: "small muted" }, "Reached by ", item.reached.slice(0, MOST).map(([id, place], at) => [at ? "; " : "", testLink(id, nameOf(id)), " (", code(place), ")"]),
      item.reached.length > MOST ? `; and ${number(item.reached.length - MOST)} more` : "."));
}

const inTests = (ids) => [testLink(ids[0], nameOf(ids[0])), ids.length > 1 ? ` and ${number(ids.length - 1)} more` : ""];

function idle(title, text, items) {
  if (!items.length) return null;
  return [h("h2", {}, title), h("p", { class: "muted" }, text), h("ul", { class: "rows" }, items.map(([what, ids]) => h("li", {},
    h("div", { class: "row" }, h("span", { class: "what" }, code(what)), h("span", { class: "aside" }, inTests(ids))))))];
}

function kindTable(kinds) {
  const heads = [["What was done otherwise"], ["noticed", "number"], ["tried", "number"], [""]];
  return table(heads, kinds.map(({ kind, noticed, counted }) => {
    const bar = h("i", {});
    bar.style.width = `${(100 * noticed) / counted}%`;
    return h("tr", {}, h("th", { scope: "row" }, kind), h("td", { class: "number" }, number(noticed)), h("td", { class: "number" }, number(counted)),
      h("td", {}, h("span", { class: "bar-of", "aria-hidden": "true" }, bar)));
  }), { label: "Perturbations by kind" });
}

function strengthPage() {
  const title = "Strength";
  const found = data.strength;
  if (!found) {
    return { title, body: [h("h1", { tabindex: "-1" }, title),
      h("p", { class: "lead" }, "Not asked for. This option lets the system do one thing otherwise at a time, and tells what no spec notices:"),
      block("pytest --wowspec-strength", { what: "the command line", title: "In a terminal" })] };
  }
  return {
    title,
    body: [
      h("h1", { tabindex: "-1" }, found.strength === null ? "No spec did anything that could be perturbed" : `${Math.floor(found.strength)} % of ${several(found.counted, "perturbation")} noticed`),
      h("p", { class: "lead" }, "The system under test did one thing otherwise at a time. A perturbation that no expectation noticed is a loose assertion."),
      found.unseen.length ? [h("h2", {}, `Loose assertions: ${number(found.unseen.length)} that no spec notices`), h("ul", {}, found.unseen.map(unseenCard))] : h("p", {}, "Each was noticed."),
      idle("Given in vain", "Without these items each spec that has them would pass all the same.", (found.idle_givens || []).map((each) => [[each.place, each.item].filter(Boolean).join(": "), each.tests])),
      idle("Expectations that never failed", "No perturbation made them fail.", (found.idle_expectations || []).map((each) => [each.expectation, each.tests])),
      found.kinds.length ? [h("h2", {}, "By kind"), kindTable(found.kinds)] : null,
      idle("Left out", "These specs could not be run again.", (found.left_out || []).map((each) => [each.why, [each.test]])),
    ],
  };
}

function unreachedCard(item) {
  return h("li", { class: "card" },
    h("h3", {}, code(`given(${item.given.join(", ")})`), " of ", said(item.aggregate)),
    h("p", {}, `No command was found that stores `, code(item.events), ` as version ${item.version}, within ${several(item.limit, "command")} (${number(item.sent)} sent).`),
    h("p", { class: "small muted" }, code(item.place), " in ", inTests(item.tests)),
    item.tried.length ? folded(`${several(item.tried.length, "command")} tried`, () => block(item.tried.join("\n"), { label: "Commands tried" })) : null,
    item.assumed.length ? h("p", { class: "small muted" }, "Taken as given: ", item.assumed.join("; ")) : null);
}

function givensPage() {
  const title = "Givens";
  const found = data.unreachable;
  if (!found) {
    return { title, body: [h("h1", { tabindex: "-1" }, title),
      h("p", { class: "lead" }, "Not asked for. This option looks for commands that make what the specs give, and tells what is not reached:"),
      block("pytest --wowspec-unreachable", { what: "the command line", title: "In a terminal" })] };
  }
  const count = found.unreached.length;
  return {
    title,
    body: [
      h("h1", { tabindex: "-1" }, count ? `${several(count, "given history", "given histories")} that no command was found to produce` : "Commands produce each given history"),
      h("p", { class: "lead" }, `${several(found.judged, "history", "histories")} judged, within ${several(found.limit, "command")} each. What is not found may exist all the same.`),
      h("ul", {}, found.unreached.map(unreachedCard)),
      idle("Taken as given", "The commands of these could not be tried.", found.assumed),
      idle("Not looked at", "These could not be run again.", found.left_out),
    ],
  };
}
