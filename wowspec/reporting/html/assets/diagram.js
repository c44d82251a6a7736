// A run as a sequence diagram: a column for each lane, time downward, a box for each point that was passed, and an arrow
// where a message comes from another lane.

const CHAR = 6.65, LINE = 13, PAD = 8, HEADS = 46, NARROWEST = 480;
const ROLES = { gateway: "gateway", command: "aggregate", snapshot: "snapshots", event: "function", service: "service", user: "your code" };
let drawings = 0;

const widthOf = (text) => [...text].reduce((sum, each) => sum + (each.codePointAt(0) > 0x2e7f ? 2 : 1), 0);
// The fewer lanes there are, the more of a text there is room for.
const roomFor = (lanes) => (lanes <= 3 ? [44, 76] : lanes <= 5 ? [34, 44] : [27, 26]);
const timeOf = (row) => `${number(row.millis)} ms`;

function cut(text, most) {
  if (widthOf(text) <= most) return text;
  let kept = "";
  for (const each of text) {
    if (widthOf(kept + each) >= most) break;
    kept += each;
  }
  return `${kept}…`;
}

// Two lines for the head of a lane: what works there, and on what.
function headOf(lane, role) {
  const at = lane.lastIndexOf("@");
  if (role === "gateway") return ["gateway", lane.replace(/^gateway:/, "")];
  if (role === "event" && at > 0) return [lane.slice(0, at), lane.slice(at + 1)];
  if (role === "snapshot") return ["snapshots", lane.replace(/^snapshot@/, "")];
  return [ROLES[role] || role, lane];
}

// The lines within the box of a row; a function's name stands in the head of its lane already.
function linesOf(row, most) {
  const colon = row.point.indexOf(":");
  const isOwn = colon > 0 && row.lane.startsWith(row.point.slice(colon + 1));
  const lines = [["point", isOwn ? row.point.slice(0, colon) : row.point]];
  if (row.detail) lines.push(["faint", row.detail]);
  if (row.outcome !== "ok") lines.push(["said", `✗ ${row.outcome}`]);
  if (row.again) lines.push(["again", "delivered again: same event"]);
  if (row.note) lines.push(["note", `! ${row.note}`]);
  return lines.map(([cls, text]) => [cls, cut(text, most), text]);
}

function layout(rows) {
  const lanes = new Map();
  const [most, gap] = roomFor(new Set(rows.map((row) => row.lane)).size);
  const gutter = timeOf(rows.at(-1)).length * CHAR + 30;
  for (const row of rows) {
    if (!lanes.has(row.lane)) lanes.set(row.lane, { name: row.lane, head: headOf(row.lane, row.role), chars: 9 });
    const lane = lanes.get(row.lane);
    lane.chars = Math.max(lane.chars, ...lane.head.map((text) => widthOf(cut(text, most))), ...linesOf(row, most).map(([, text]) => widthOf(text)));
  }
  let x = gutter;
  for (const lane of lanes.values()) {
    lane.width = lane.chars * CHAR + 2 * PAD;
    lane.left = x;
    lane.middle = x + lane.width / 2;
    x += lane.width + gap;
  }
  return { lanes, most, gutter, width: Math.ceil(Math.max(x - gap + 16, NARROWEST)) };
}

function drawHeads(lanes, width) {
  return s("svg", { width, height: HEADS, viewBox: `0 0 ${width} ${HEADS}`, "aria-hidden": "true" },
    [...lanes.values()].map((lane) => s("g", {},
      s("title", {}, lane.name),
      s("text", { class: "role", x: lane.middle, y: 20, "text-anchor": "middle" }, cut(lane.head[0], lane.chars + 1)),
      s("text", { class: "faint", x: lane.middle, y: 36, "text-anchor": "middle" }, cut(lane.head[1], lane.chars + 1)))));
}

function drawBox(row, lane, y, lines, height, hatch) {
  const wrong = row.outcome !== "ok";
  const cls = [wrong ? "wrong" : "", row.struck ? "struck" : "", row.note || row.again ? "noted" : ""].join(" ").trim();
  const box = { x: lane.left, y, width: lane.width, height, rx: 5 };
  return s("g", { class: cls || null },
    s("title", {}, lines.map(([, , text]) => text).join("\n")),
    s("rect", { class: "box", ...box }),
    row.struck ? s("rect", { ...box, fill: `url(#${hatch})` }) : null,
    lines.map(([kind, text], place) => s("text", { class: kind, x: lane.left + PAD, y: y + 4 + LINE * (place + 1) - 3 }, text)));
}

function drawArrow(from, to, y, tip, made) {
  const right = to.middle > from.middle;
  const end = right ? to.left - 1 : to.left + to.width + 1;
  return s("g", { class: made ? "arrow made" : "arrow" },
    s("title", {}, `${made ? "made by" : "sent by"} ${from.name}, for ${to.name}`),
    s("circle", { class: "tip", cx: from.middle, cy: y, r: 2.5 }),
    s("path", { class: "sent", d: `M${from.middle} ${y}H${end}`, "marker-end": `url(#${tip})` }));
}

// Where the message of each row comes from: the lane that sent it, or the lane of the function that made it. It arrives in
// a lane once for each time that it is sent.
function origins(rows) {
  const sent = new Map(), arrived = new Map();
  const arrival = (message, lane) => arrived.get(`${message} ${lane}`) ?? -1;
  return rows.map((row, place) => {
    let from = null;
    for (const message of [row.subject, row.cause]) {
      const send = sent.get(message);
      if (from || message < 0 || !send || send.lane === row.lane) continue;
      // Each event of a stream arrives by itself; within an aggregate all that follows a command arrived with it.
      const known = row.role === "event" ? arrival(row.subject, row.lane) : Math.max(arrival(row.subject, row.lane), arrival(message, row.lane));
      if (known >= send.place) continue;
      from = { lane: send.lane };
      for (const each of [row.subject, message]) arrived.set(`${each} ${row.lane}`, place);
    }
    if (!from && row.role === "gateway" && row.cause >= 0 && arrival(row.subject, row.lane) < 0) {
      const maker = makerOf(rows, place);
      if (maker) from = { lane: maker, made: true };
      arrived.set(`${row.subject} ${row.lane}`, place);
    }
    if (row.point.endsWith("_bus.send")) sent.set(row.subject, { lane: row.lane, place });
    return from;
  });
}

// The lane of the function that a command comes of: it is the one that worked on the event just before.
function makerOf(rows, place) {
  const { cause } = rows[place];
  for (let before = place - 1; before >= 0; before -= 1) {
    const row = rows[before];
    if (row.subject === cause && row.role === "event") return row.lane;
    if (row.cause !== cause || row.role !== "gateway") break;
  }
  const lanes = new Set(rows.slice(0, place).filter((row) => row.subject === cause && row.role === "event").map((row) => row.lane));
  return lanes.size === 1 ? [...lanes][0] : null;
}

function drawRows(rows, { lanes, most, gutter, width }, departure) {
  const prefix = `d${++drawings}`;
  const [tip, hatch] = [`${prefix}-tip`, `${prefix}-hatch`];
  const from = origins(rows);
  const parts = [];
  let y = 12, millis = -1, wrong = null;
  // Beside the lane that goes on, where there is room for it.
  const labelAt = (lane, room) => Math.max(12, Math.min(lane.left, width - room));
  rows.forEach((row, place) => {
    const lane = lanes.get(row.lane), lines = linesOf(row, most), height = LINE * lines.length + PAD;
    if (millis >= 0 && row.millis > millis) {
      parts.push(s("line", { class: "wait", x1: 12, x2: width - 12, y1: y + 18, y2: y + 18 }));
      parts.push(s("text", { class: "faint later", x: labelAt(lane, 120), y: y + 13 }, `${number(row.millis - millis)} ms later`));
      y += 28;
    }
    if (place === departure) {
      parts.push(s("g", { class: "departs" },
        s("line", { x1: 12, x2: width - 12, y1: y + 16, y2: y + 16 }),
        s("text", { x: labelAt(lane, 350), y: y + 10 }, "▾ here it departs from the run without faults")));
      y += 28;
    }
    if (row.millis !== millis) {
      parts.push(s("text", { class: "faint", x: gutter - 16, y: y + LINE + 1, "text-anchor": "end" }, timeOf(row)));
      millis = row.millis;
    }
    if (from[place]) parts.push(drawArrow(lanes.get(from[place].lane), lane, y + height / 2, tip, from[place].made));
    if (!wrong && (row.struck || row.outcome !== "ok" || place === departure)) wrong = { x: lane.left, y };
    parts.push(drawBox(row, lane, y, lines, height, hatch));
    y += height + 8;
  });
  const height = y + 6;
  const lives = [...lanes.values()].map((lane) => s("line", { class: "life", x1: lane.middle, x2: lane.middle, y1: 0, y2: height }));
  return { tip, hatch, height, wrong, parts: [...lives, ...parts] };
}

function described(rows, lanes) {
  const wrong = rows.filter((row) => row.outcome !== "ok");
  const what = wrong.map((row) => `${row.point} in ${row.lane}: ${row.outcome}`);
  return [`${several(rows.length, "step")} in ${several(lanes.size, "lane")}`, ...what].join("; ");
}

// Where the command begins in whose course a run of all steps goes wrong: what is before it need not be seen at first.
function beginning(run, rows) {
  if (run.step !== -1) return 0;
  const first = rows.findIndex((row, place) => row.struck || place === run.departure);
  const isStart = (row) => row.point === "request_id.check" && row.cause < 0;
  const start = rows.findLastIndex((row, place) => place < first && isStart(row));
  return start >= 6 ? start : 0;
}

function diagram(run, name) {
  const rows = rowsOf(run);
  if (!rows.length) return h("p", { class: "muted" }, "Nothing passed any point.");
  const start = beginning(run, rows);
  const departure = run.departure === undefined ? -1 : run.departure;
  const table = folded("The same as a table", () => timeline(rows, name, departure));
  const left = run.left_out ? h("p", { class: "muted small" }, `${several(run.left_out, "row")} in the middle, where nothing went wrong, ${run.left_out === 1 ? "is" : "are"} left out.`) : null;
  if (!start) return [drawn(rows, name, departure, run.step === -1), left, table];
  const all = h("button", { class: "button", type: "button" }, `Show the ${number(start)} steps before`);
  const why = h("span", { class: "small muted" }, "They made what was given, and nothing went wrong there.");
  const part = h("div", {}, drawn(rows.slice(start), name, departure - start, true, [all, why]));
  all.addEventListener("click", () => {
    part.replaceChildren();
    fill(part, {}, [drawn(rows, name, departure, true)]);
    part.querySelector(".story").focus();
  });
  return [part, left, table];
}

// The drawing alone, with what is pressed above it; `opens`: it is scrolled to where it goes wrong.
function drawn(rows, name, departure, opens, before) {
  const plan = layout(rows);
  const { lanes, width } = plan;
  const { tip, hatch, height, wrong, parts } = drawRows(rows, plan, departure);
  const [title, desc] = [`${hatch}-title`, `${hatch}-desc`];
  const body = s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-labelledby": `${title} ${desc}` },
    s("title", { id: title }, `Sequence diagram: ${name}`),
    s("desc", { id: desc }, `${described(rows, lanes)}. The table below the diagram says the same.`),
    s("defs", {},
      s("marker", { id: tip, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" },
        s("path", { class: "tip", d: "M0 0.5L8 4L0 7.5z" })),
      s("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
        s("line", { class: "hatch", x1: 0, y1: 0, x2: 0, y2: 6 }))),
    parts);
  const story = h("div", { class: "story", tabindex: "0", role: "region", "aria-label": `Sequence diagram: ${name}` },
    h("div", { class: "heads" }, drawHeads(lanes, width)), body);
  story.style.setProperty("--width", `${width + 2}px`);
  const look = () => story.scrollTo(Math.max(0, wrong.x - 150), Math.max(0, wrong.y - 90));
  const jump = () => { look(); story.focus(); };
  // A story of a finding opens where it goes wrong, if it doesn't fit as a whole.
  if (opens && wrong) requestAnimationFrame(look);
  return [
    before || (wrong && rows.length > 12) ? h("p", { class: "tools above" }, wrong && rows.length > 12 ? h("button", { class: "button", type: "button", onclick: jump }, "Go to where it goes wrong") : null, before) : null,
    story,
  ];
}

function timeline(rows, name, departure) {
  const heads = [["virtual time", "number"], ["lane"], ["point"], ["what passed"], ["came to"]];
  return table(heads, rows.map((row, place) => h("tr", { class: row.outcome === "ok" ? null : "wrong" },
    h("td", { class: "number" }, timeOf(row)),
    h("td", {}, code(row.lane)),
    h("td", {}, code(row.point)),
    h("td", { class: "detail" }, said(row.detail), row.again ? h("div", {}, "delivered again: same event") : null, row.note ? h("div", {}, "! ", said(row.note)) : null),
    h("td", {}, row.outcome === "ok" ? "ok" : `✗ ${row.outcome}`, place === departure ? " (first departure)" : ""))), { class: "timeline", label: `Timeline: ${name}` });
}
