// Marks in texts: select words with the mouse or the keyboard, then mark them.

import { act, badge, judgment, onChange, onShown, prefill } from "/annotate/annotate.js";

const KINDS = [...document.querySelectorAll("[name=kind]")].map((input) => input.value);
const SEVERITIES = [...document.querySelectorAll("[name=severity]")].map((input) => input.value);
const boxes = [...document.querySelectorAll(".words")];
const chosen = new Map(boxes.map((box) => [box, { from: 0, to: 0 }]));
const wordsOf = (box) => [...box.querySelectorAll("[data-start]")];
const PART = /^(mistakes|omissions):(\d+)-(\d+)$/;
let last = boxes[0];

function draw(box, selecting) {
  const { from, to } = chosen.get(box);
  const [low, high] = [Math.min(from, to), Math.max(from, to)];
  wordsOf(box).forEach((word, at) => {
    const inside = selecting && at >= low && at <= high;
    word.setAttribute("aria-selected", String(inside));
    word.classList.toggle("here", selecting && at === to);
  });
  const word = wordsOf(box)[to];
  if (word && selecting) {
    box.setAttribute("aria-activedescendant", word.id);
    word.scrollIntoView({ block: "nearest" });
  }
}

function mark() {
  const words = wordsOf(last);
  const { from, to } = chosen.get(last);
  if (!words.length) return;
  const [first, final] = [words[Math.min(from, to)], words[Math.max(from, to)]];
  const part = `${last.dataset.label}:${first.dataset.start}-${final.dataset.end}`;
  const value = (name) => document.querySelector(`[name=${name}]:checked`).value;
  act(part, { kind: value("kind"), severity: value("severity") });
}

boxes.forEach((box) => {
  box.addEventListener("focus", () => {
    if (last !== box) draw(last, false);
    last = box;
    draw(box, true);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      if (!event.repeat) mark();
      event.preventDefault();
      return;
    }
    const range = chosen.get(box);
    const end = wordsOf(box).length - 1;
    const to = { ArrowRight: range.to + 1, ArrowLeft: range.to - 1, Home: 0, End: end }[event.key];
    if (to !== undefined) {
      range.to = Math.max(0, Math.min(end, to));
      if (!event.shiftKey) range.from = range.to;
      draw(box, true);
      event.preventDefault();
    }
  });
});

// A selection by mouse covers every word that it touches.
document.addEventListener("selectionchange", () => {
  const selection = document.getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return;
  const range = selection.getRangeAt(0);
  const box = boxes.find((textBox) => textBox.contains(range.commonAncestorContainer));
  if (!box) return;
  const inside = wordsOf(box).map((word) => range.intersectsNode(word));
  // A range that ends where a word begins only touches its edge.
  const text = selection.toString();
  const edge = wordsOf(box)[inside.lastIndexOf(true)];
  const touches = edge && range.endOffset === 0 && edge.contains(range.endContainer);
  if (!text.trim() || !inside.includes(true)) return;
  if (last !== box) draw(last, false);
  last = box;
  const final = inside.lastIndexOf(true) - (touches ? 1 : 0);
  chosen.set(box, { from: inside.indexOf(true), to: Math.max(inside.indexOf(true), final) });
  draw(box, true);
});

boxes.forEach((box) => box.addEventListener("click", (event) => {
  const at = wordsOf(box).indexOf(event.target.closest("[data-start]"));
  if (at < 0 || !document.getSelection().isCollapsed) return;
  const range = chosen.get(box);
  chosen.set(box, { from: event.shiftKey ? range.from : at, to: at });
  last = box;
  draw(box, true);
}));

const button = document.getElementById("mark");
button.addEventListener("mousedown", (event) => event.preventDefault());
button.addEventListener("click", mark);
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("textarea, select");
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (typing || !plain || !document.getElementById("shortcuts").checked) return;
  if (event.key.toLowerCase() === "m") {
    if (!event.repeat) mark();
    event.preventDefault();
  }
});

onShown((others) => others.forEach(({ label, judgment: otherState }) => boxes.forEach((box) => {
  const list = document.querySelector(`[data-marks="${box.dataset.label}"]`);
  Object.entries(otherState).forEach(([part, value]) => {
    const [, side, start, end] = PART.exec(part) || [];
    if (side !== box.dataset.label) return;
    const words = wordsOf(box).filter((w) => +w.dataset.start < +end && +w.dataset.end > +start);
    const severity = value.severity ? `, ${value.severity}` : "";
    badge(list.parentElement, `${label}: ${words.map((w) => w.textContent).join(" ")} (${value.kind}${severity})`);
  });
})));

function select(name, options, label, change) {
  const menu = document.createElement("select");
  menu.setAttribute("aria-label", label);
  const open = new Option(`${name}?`, "");
  open.hidden = open.disabled = true;
  menu.append(open, ...options.map((option) => new Option(option, option)));
  menu.addEventListener("change", () => change(menu.value));
  return menu;
}

function row(box, part) {
  const [, , start, end] = PART.exec(part);
  const words = wordsOf(box).filter((w) => +w.dataset.start < +end && +w.dataset.end > +start);
  const text = words.map((word) => word.textContent).join(" ");
  const item = document.createElement("li");
  const quote = document.createElement("q");
  quote.textContent = text;
  const remove = document.createElement("button");
  remove.type = "button";
  remove.textContent = "Remove";
  remove.setAttribute("aria-label", `Remove the mark on ${text}`);
  remove.addEventListener("click", () => act(part, null));
  const setField = (field) => (chosenValue) => act(part, { ...judgment()[part], [field]: chosenValue });
  const kind = select("kind", KINDS, `Kind of the mark on ${text}`, setField("kind"));
  const severity = select("severity", SEVERITIES, `Severity of the mark on ${text}`, setField("severity"));
  item.append(quote, kind, severity, remove);
  if (part in prefill) {
    const note = document.createElement("span");
    note.className = "muted";
    note.textContent = "proposed";
    item.append(note);
  }
  const show = (value) => {
    kind.value = value.kind;
    severity.value = value.severity ?? "";
  };
  return { item, show };
}

const rows = new Map(); // by part; a row stays while its mark does, so that its focus stays, too

function drawMarks(box, marks) {
  const list = document.querySelector(`[data-marks="${box.dataset.label}"]`);
  const focusedIndex = [...list.children].indexOf(document.activeElement.closest(".marks > li"));
  const items = marks.map(([part, value]) => {
    if (!rows.has(part)) rows.set(part, row(box, part));
    rows.get(part).show(value);
    return rows.get(part).item;
  });
  [...list.children].filter((item) => !items.includes(item)).forEach((item) => item.remove());
  items.forEach((item, at) => {
    if (list.children[at] !== item) list.insertBefore(item, list.children[at] ?? null);
  });
  // A mark that was removed: on to the next, but not to its Remove, which a second Enter would press.
  if (focusedIndex >= 0 && !list.contains(document.activeElement)) {
    const next = items[Math.min(focusedIndex, items.length - 1)];
    (next?.querySelector("select") ?? box).focus();
  }
}

onChange((state) => {
  boxes.forEach((box) => {
    const marks = Object.entries(state).filter(([part]) => PART.exec(part)?.[1] === box.dataset.label);
    const [startOf, endOf] = [2, 3].map((at) => ([part]) => +PART.exec(part)[at]);
    marks.sort((a, b) => startOf(a) - startOf(b) || endOf(a) - endOf(b));
    wordsOf(box).forEach((word) => {
      const mark = marks.find(([part]) => {
        const [, , start, end] = PART.exec(part);
        return +word.dataset.start < +end && +word.dataset.end > +start;
      });
      word.classList.toggle("marked", Boolean(mark));
      word.classList.toggle("major", mark?.[1].severity === "major");
    });
    drawMarks(box, marks);
  });
});
