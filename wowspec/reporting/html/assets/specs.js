// All tests, by file or by what they are about, with a field to search them.

const filter = { text: "", outcome: "all", by: "file" };
const haystacks = new Map();
// Sorts of findings that somebody may want to look at, with their words and colours. What the runtime is known for, most
// tests have.
const FOUND = [["domain", "finding", "findings", "bad"], ["declared", "declared finding", "declared findings", "warn"], ["healed", "healed finding", "healed findings", "warn"]];

function haystack(test) {
  let text = haystacks.get(test);
  if (text === undefined) {
    const specs = specsOf(test);
    const steps = specs.flatMap((spec) => stepsOf(spec).flatMap((step) => [step.sentence, ...step.details]));
    text = [test.id, test.title, ...specs.flatMap((spec) => [spec.subject, spec.context, spec.scenario]), ...steps].filter(Boolean).join("\n").toLowerCase();
    haystacks.set(test, text);
  }
  return text;
}

function isShown(test) {
  if (filter.outcome === "failed" && !isFailed(test)) return false;
  if (filter.outcome === "found" && !FOUND.some(([sort]) => countOf(test, sort))) return false;
  return filter.text.toLowerCase().split(/\s+/).every((word) => haystack(test).includes(word));
}

// What tells the cases of one parametrized test apart.
function caseOf(test) {
  const start = test.name.indexOf("[");
  return start > 0 && test.name.endsWith("]") ? h("span", { class: "case" }, said(test.name.slice(start + 1, -1))) : null;
}

// The function's name, where the title doesn't say it.
function ownName(test) {
  const name = test.name.split("[")[0];
  const plain = (text) => text.toLowerCase().replace(/^test_?|[^\p{L}\p{N}]/gu, "");
  return plain(name) === plain(test.title) ? null : h("span", { class: "case" }, said(name));
}

function testRow(test) {
  const aside = [subjectsOf(test).slice(0, 2).join(", "), specsOf(test).length > 1 ? several(specsOf(test).length, "spec") : ""].filter(Boolean).join(" · ");
  return h("li", {}, h("a", { class: "row", href: `#${test.key}` },
    mark(test.outcome), h("span", { class: "what" }, said(test.title), caseOf(test), ownName(test)),
    FOUND.map(([sort, one, many, tone]) => (countOf(test, sort) ? badge(several(countOf(test, sort), one, many), tone) : null)),
    aside ? h("span", { class: "aside" }, said(aside)) : null));
}

function grouped() {
  const found = new Map();
  for (const test of tests) {
    const keys = filter.by === "file" ? [test.file || "–"] : subjectsOf(test);
    for (const key of keys.length ? keys : ["no aggregate"]) {
      if (!found.has(key)) found.set(key, []);
      found.get(key).push(test);
    }
  }
  return found;
}

// Rows are made once for each grouping; searching hides them.
function specList(tally) {
  const sections = [...grouped()].map(([name, members]) => {
    const rows = members.map((test) => ({ test, row: testRow(test) }));
    const count = h("small", {});
    const section = h("section", { class: "group" }, h("h2", {}, said(name), count), h("ul", { class: "rows" }, rows.map(({ row }) => row)));
    // What is out of sight isn't laid out; until it was, its height is a guess.
    section.style.containIntrinsicSize = `auto ${40 + 41 * rows.length}px`;
    return { section, rows, count };
  });
  const nothing = h("p", { class: "lead", hidden: true }, "No test matches.");
  const apply = () => {
    const seen = new Set();
    for (const { section, rows, count } of sections) {
      let shown = 0;
      for (const { test, row } of rows) {
        row.hidden = !isShown(test);
        if (!row.hidden) { shown += 1; seen.add(test); }
      }
      section.hidden = !shown;
      count.textContent = shown === rows.length ? several(shown, "test") : `${number(shown)} of ${several(rows.length, "test")}`;
    }
    nothing.hidden = seen.size > 0;
    tally.textContent = seen.size === tests.length ? several(tests.length, "test") : `${number(seen.size)} of ${several(tests.length, "test")}`;
  };
  return { element: h("div", {}, sections.map(({ section }) => section), nothing), apply };
}

function pressing(label, name, choices, then) {
  const buttons = choices.map(([value, text]) => {
    const button = h("button", { type: "button", class: "button", "aria-pressed": String(filter[name] === value) }, text);
    button.addEventListener("click", () => {
      filter[name] = value;
      for (const each of buttons) each.setAttribute("aria-pressed", String(each === button));
      then();
    });
    return button;
  });
  return h("div", { class: "buttons", role: "group", "aria-label": label }, buttons);
}

function specsPage() {
  const tally = h("span", { class: "muted small", role: "status", "aria-live": "polite" });
  let list = specList(tally);
  const place = h("div", {}, list.element);
  const field = h("input", { class: "field", type: "search", placeholder: "Search titles, steps, aggregates, files", "aria-label": "Search the specs", value: filter.text, autocomplete: "off", spellcheck: "false" });
  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { filter.text = field.value.trim(); list.apply(); }, 90);
  });
  const regroup = () => { list = specList(tally); place.replaceChildren(list.element); list.apply(); };
  const outcomes = [["all", "All"], ["failed", "Failed"], ...(faults ? [["found", "With findings"]] : [])];
  list.apply();
  return {
    title: "Specs",
    body: [
      h("h1", { tabindex: "-1" }, "Specs"),
      h("div", { class: "tools", role: "search" }, field,
        pressing("Which tests", "outcome", outcomes, () => list.apply()),
        pressing("Group by", "by", [["file", "By file"], ["subject", "By aggregate"]], regroup), tally),
      place,
    ],
  };
}
