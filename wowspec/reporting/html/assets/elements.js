// Elements are made by functions, and texts are put in as text: nothing that a suite says is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// A text of the suite's own, whichever way it runs.
const said = (text) => h("bdi", {}, text);
const code = (text) => h("code", { dir: "auto" }, text);
// A name that may be broken where its words end.
const breakable = (name) => name.split(/(?<=[._])/).map((part, place) => (place ? [h("wbr"), part] : part));
const several = (count, noun, nouns) => `${count.toLocaleString("en")} ${count === 1 ? noun : nouns || `${noun}s`}`;
// A half of a pair of code units cannot stand in an address.
const inAddress = (text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const number = (count) => count.toLocaleString("en");

function badge(text, tone, mark) {
  return h("span", { class: `badge ${tone}` }, mark ? h("span", { "aria-hidden": "true" }, mark) : null, text);
}

function table(heads, rows, attributes) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": attributes.label },
    h("table", { class: attributes.class },
      h("thead", {}, h("tr", {}, heads.map(([text, cls]) => h("th", { scope: "col", class: cls }, text)))),
      h("tbody", {}, rows)));
}

// --- copying ---------------------------------------------------------------------------------------------------------

function tell(text) {
  const place = document.getElementById("said");
  place.textContent = "";
  setTimeout(() => { place.textContent = text; }, 50);
}

// A file that was opened from a disk may not be allowed to use the clipboard: then the old way, or it is marked at least.
async function copy(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "unseen", readonly: true, "aria-hidden": "true", tabindex: "-1" });
    area.value = text;
    const before = document.activeElement;
    document.body.append(area);
    area.select();
    let done = false;
    try { done = document.execCommand("copy"); } catch { /* it stays false */ }
    area.remove();
    if (before && before.focus) before.focus();
    if (!done && shown) getSelection().selectAllChildren(shown);
    return done;
  }
}

function copyButton(text, what, shown) {
  const label = h("span", {}, "Copy");
  const button = h("button", { class: "button copy", type: "button", "aria-label": `Copy ${what}` }, label);
  button.addEventListener("click", async () => {
    const done = await copy(text, shown);
    label.textContent = done ? "Copied ✓" : "Marked: press Ctrl+C";
    tell(done ? `Copied ${what}.` : `The text is marked: press Ctrl+C to copy ${what}.`);
    setTimeout(() => { label.textContent = "Copy"; }, 2500);
  });
  return button;
}

// A block of code with its title and a button; `scrolls`: its lines are not wrapped.
function block(text, { title, what, scrolls, tone, label } = {}) {
  const pre = h("pre", { tabindex: "0", role: "region", "aria-label": label || title || "text" }, text);
  const head = title || what ? h("div", { class: "head" }, h("span", { class: "title" }, title || ""), what ? copyButton(text, what, pre) : null) : null;
  return h("div", { class: ["code", scrolls ? "scrolls" : "", tone || ""].join(" ").trim() }, head, pre);
}

// What is drawn when it is opened for the first time.
function folded(summary, draw, attributes = {}) {
  const element = h("details", attributes, h("summary", {}, summary));
  const fillIt = () => {
    if (!element.open || element.dataset.drawn) return;
    element.dataset.drawn = "yes";
    fill(element, {}, [draw()]);
  };
  element.addEventListener("toggle", fillIt);
  if (attributes.open) fillIt();
  return element;
}
