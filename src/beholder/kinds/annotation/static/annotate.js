// Shared by the pages of all tasks. Acts are sent one by one until the server confirms each.
// Unsaved acts stay in the browser's storage under their numbers, so that a reload or an
// unreachable server loses none, and an act that is sent twice counts once.

const root = document.querySelector("[data-annotate]");
const { url, csrf, key, task, who: owner } = root.dataset;
const statusLine = document.getElementById("status");
const problem = document.getElementById("problem");
const shortcuts = document.getElementById("shortcuts");
const written = [...root.querySelectorAll("[data-words]")];
const PREFIX = `beholder:${key}:`;
const PATIENCE_MS = 15000;

const random = crypto.getRandomValues(new Uint8Array(12));
const client = Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
let actCount = 0;
let sending = false;
let leaving = false;
let blocked = ""; // why nothing is saved: another annotator is signed in, or nobody
let saved = JSON.parse(root.dataset.state);
const listeners = [];
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function stored() {
  const names = [];
  for (let at = 0; at < localStorage.length; at += 1) {
    const name = localStorage.key(at);
    if (name.startsWith(PREFIX)) names.push(name);
  }
  return names.sort();
}

const outbox = stored().map((name) => ({ name, act: JSON.parse(localStorage.getItem(name)) }));

function say(words, waits) {
  if (statusLine.textContent !== words) statusLine.textContent = words;
  statusLine.dataset.state = waits ? "waiting" : "saved";
}

function complain(words, way) {
  problem.hidden = !words;
  problem.replaceChildren(words || "");
  if (way) {
    const link = document.createElement("a");
    link.href = "/";
    link.textContent = way;
    problem.append(" ", link);
  }
}

function block(words, way) {
  leaving = false;
  if (blocked === words) return;
  blocked = words;
  complain(words, way);
}

// Other judgments that the page shows: the right one after Done, or all of them to an adjudicator.
let otherJudgments = JSON.parse(root.dataset.shown);
const shownListeners = [];
export function onShown(listener) {
  shownListeners.push(listener);
  listener(otherJudgments);
}

export const prefill = JSON.parse(root.dataset.prefill);

// The judgment with unsaved acts; an undo shows when the server has confirmed it.
export function judgment() {
  const state = { ...saved };
  for (const { act } of outbox) {
    if (act.part === null) continue;
    if (act.value === null) delete state[act.part];
    else state[act.part] = act.value;
  }
  return state;
}

export function onChange(listener) {
  listeners.push(listener);
  listener(judgment());
}

function tell() {
  const state = judgment();
  listeners.forEach((listener) => listener(state));
}

export function act(part, value) {
  actCount += 1;
  const entry = { client, number: actCount, part, value };
  const name = `${PREFIX}${client}:${String(actCount).padStart(8, "0")}`;
  localStorage.setItem(name, JSON.stringify(entry));
  outbox.push({ name, act: entry });
  complain("");
  tell();
  return send();
}

const wait = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

async function post(entry) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-csrf-token": csrf, "x-page-key": key },
    body: JSON.stringify(entry),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const json = (answer.headers.get("content-type") || "").includes("json");
  return { status: answer.status, reply: json ? await answer.json() : {} };
}

// A page that is closing may still save an act that the next page does not show. It leaves the
// act in the storage, so that the next page sends it again and gets the current state.
const lingering = [];
let departing = false;

function forget() {
  departing = false;
  lingering.splice(0).forEach((name) => localStorage.removeItem(name));
}

function drop(name) {
  if (departing) lingering.push(name);
  else localStorage.removeItem(name);
  outbox.splice(outbox.findIndex((entry) => entry.name === name), 1);
}

// After a gap (acts of this page that the server does not have) the rest get new numbers.
function renumber(who, last) {
  let number = last;
  for (const entry of outbox) {
    if (entry.act.client === who) {
      number += 1;
      entry.act.number = number;
      localStorage.setItem(entry.name, JSON.stringify(entry.act));
    }
  }
  if (who === client) actCount = number;
}

function settle(name, entry, { status, reply }) {
  if (status === 200) {
    if (blocked) complain("");
    blocked = "";
    drop(name);
    saved = reply.state;
    if (reply.shown) {
      leaving = false;
      otherJudgments = reply.shown;
      shownListeners.forEach((listener) => listener(otherJudgments));
    }
    return true;
  }
  if (status === 409) {
    renumber(entry.client, reply.last);
    return true;
  }
  if (status === 422 || status === 400 || status === 413) { // invalid: sending it again cannot help
    drop(name);
    renumber(entry.client, entry.number - 1);
    saved = reply.state || saved;
    leaving = false;
    complain(reply.error || "This answer cannot be saved.");
    return true;
  }
  if (status === 412) {
    const signedIn = reply.who === "owner" ? "the owner of the study" : reply.who;
    block(`This page belongs to ${owner}; you are signed in as ${signedIn}. Nothing was saved under that name. To continue as ${owner}, open that personal link again: unsaved answers stay in this browser and are sent then.`, `Continue as ${signedIn}`);
  }
  if (status === 401 || status === 403) {
    block("Your session has ended: open your personal link again. Unsaved answers stay in this browser and are sent then.");
  }
  return false;
}

async function send() {
  if (sending) return;
  sending = true;
  let tries = 0;
  while (outbox.length) {
    const { name, act: entry } = outbox[0];
    say(tries ? "Not saved yet; trying again" : "Saving", true);
    let answer = { status: 0, reply: {} };
    try {
      answer = await post(entry);
    } catch {
      // No answer, or an incomplete one: the act is sent again.
    }
    if (settle(name, entry, answer)) {
      tries = 0;
      tell();
    } else {
      tries += 1;
      say("Not saved yet; trying again", true);
      await wait(Math.min(5000, 250 * 2 ** tries));
    }
  }
  sending = false;
  say("Saved", false);
  if (leaving) window.location.assign(root.dataset.next);
}

export function finish() {
  leaving = true;
  return act("done", true);
}

function pressDone() {
  if (leaving) return;
  if (otherJudgments.some((other) => other.feedback !== undefined)) {
    window.location.assign(root.dataset.next);
    return;
  }
  keepWritten();
  finish();
}

// Radio buttons and boxes. A part with several fields is sent as one object: a field of radio
// buttons has one value or null, a field of boxes a list.
function valueOf(part) {
  const inputs = [...root.querySelectorAll(`[data-part="${part}"]`)];
  if (!inputs[0].dataset.field) {
    const chosen = inputs.find((input) => input.checked);
    return chosen ? JSON.parse(chosen.dataset.value) : null;
  }
  const value = {};
  inputs.forEach(({ type, checked, dataset: { field, value: text } }) => {
    if (!(field in value)) value[field] = type === "radio" ? null : [];
    if (checked && type === "radio") value[field] = JSON.parse(text);
    else if (checked) value[field].push(JSON.parse(text));
  });
  return value;
}

function show(state) {
  root.querySelectorAll("[data-part]").forEach((input) => {
    const { part, field } = input.dataset;
    const value = JSON.parse(input.dataset.value);
    const answer = part in state ? state[part] : null;
    if (!field) input.checked = same(answer, value);
    else if (input.type === "radio") input.checked = answer !== null && same(answer[field], value);
    else input.checked = answer !== null && answer[field].includes(value);
  });
  written.forEach((box) => {
    if (document.activeElement !== box) box.value = state[box.dataset.words] ?? box.defaultValue;
  });
}

const questions = [...root.querySelectorAll("[data-question]")];
const open = () => questions.find((question) => !question.querySelector("input[type=radio]:checked"));

root.addEventListener("change", (event) => {
  const { part } = event.target.dataset;
  // The same answer again is not an act, or Undo would seem to do nothing.
  if (part && !same(valueOf(part), judgment()[part] ?? null)) act(part, valueOf(part));
});

// Texts that annotators write: a remark, or a text that they edit.
let writtenTimer = 0;
function keepWritten() {
  clearTimeout(writtenTimer);
  for (const box of written) {
    const { words } = box.dataset;
    const text = box.value.trim();
    if (text !== (judgment()[words] ?? box.defaultValue.trim())) act(words, text || null);
  }
}
written.forEach((box) => {
  box.addEventListener("input", () => {
    clearTimeout(writtenTimer);
    writtenTimer = setTimeout(keepWritten, 800);
  });
  box.addEventListener("change", keepWritten);
});

document.getElementById("undo").addEventListener("click", () => act(null, null));
document.getElementById("finish").addEventListener("click", pressDone);

function press(input) {
  input.checked = input.type === "checkbox" ? !input.checked : true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

function answer(letter) {
  const focused = document.activeElement.closest("[data-question]");
  const question = focused || open() || questions[0];
  const input = question && question.querySelector(`[data-shortcut="${letter}"]`);
  if (!input) return false;
  press(input);
  // A radio button moves to the next question; a box stays, since there may be more to tick.
  const next = questions[questions.indexOf(question) + 1];
  const target = input.type === "radio" && next ? next.querySelector("input") : input;
  target.focus();
  return true;
}

// The key t goes from text to text: the pictures and their buttons come before them in the order of Tab.
function nextText(letter) {
  const texts = [...root.querySelectorAll(".words, .ranking li")];
  if (letter !== "t" || !texts.length) return false;
  texts[(texts.indexOf(document.activeElement) + 1) % texts.length].focus();
  return true;
}

// Whether the judgment is what the page showed at first, and would be complete.
function untouched() {
  const state = judgment();
  const parts = Object.keys({ ...state, ...prefill });
  return root.dataset.complete !== undefined && parts.every((part) => same(state[part], prefill[part]));
}

const brush = (letter) => {
  const input = root.querySelector(`[data-brush] [data-shortcut="${letter}"]`);
  if (input) input.checked = true;
  return Boolean(input);
};

document.addEventListener("keydown", (event) => {
  const within = event.target.closest("textarea, select, button, a, summary");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    if (!event.repeat) pressDone();
    return;
  }
  if (event.key === "Escape" && event.target.closest("textarea, .words, .ranking, .zoom, [type=range]")) {
    document.getElementById("finish").focus();
    return;
  }
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter") {
    if (within) return;
    event.preventDefault();
    if (event.repeat) return; // holding the key would finish the next units unseen
    if (untouched()) complain("You have changed nothing here. To finish this item as it is, press Ctrl+Enter or Done.");
    else pressDone();
    return;
  }
  if (event.repeat) return;
  if (!shortcuts.checked || within?.matches("textarea, select")) return;
  const letter = event.key.toLowerCase();
  if (letter === "u") act(null, null);
  else if (letter === "c") press(root.querySelector("[data-part=cannot]"));
  else if (!answer(letter) && !brush(letter) && !nextText(letter)) return;
  event.preventDefault();
});

const remembered = "beholder:shortcuts";
shortcuts.checked = localStorage.getItem(remembered) !== "off";
shortcuts.addEventListener("change", () => {
  localStorage.setItem(remembered, shortcuts.checked ? "on" : "off");
});

window.addEventListener("beforeunload", (event) => {
  if (outbox.length && !leaving && !blocked) event.preventDefault();
  departing = true;
  setTimeout(forget, 2 * PATIENCE_MS); // if the page stays open after all
});

// A sign at each answer of another judgment, and what the owner of the study says about it.
function reveal(others) {
  root.querySelectorAll(".given").forEach((sign) => sign.remove());
  others.forEach(({ label, judgment: otherState }) => {
    root.querySelectorAll("[data-part]").forEach((input) => {
      const { part, field, value } = input.dataset;
      const partValue = otherState[part] ?? null;
      const chosen = partValue !== null && field ? partValue[field] : partValue;
      const here = Array.isArray(chosen) ? chosen.includes(JSON.parse(value)) : same(chosen, JSON.parse(value));
      if (here) badge(input.nextElementSibling, label);
    });
  });
  const answer = others.find((other) => other.feedback !== undefined);
  if (!answer) return;
  const feedback = document.getElementById("feedback");
  const right = answer.wrong.length === 0;
  const which = questions.length === 1 ? "" : `: ${answer.wrong.join(", ")}`;
  const words = right ? "Right." : `Not quite${which}.`;
  feedback.replaceChildren(`${words} ${answer.feedback}`.trim());
  feedback.dataset.right = right;
  feedback.hidden = false;
  document.getElementById("finish").firstChild.textContent = "Continue ";
}

export function badge(place, words) {
  const sign = document.createElement("small");
  sign.className = "given";
  sign.textContent = words;
  place.append(sign);
}

onChange(show);
onShown(reveal);
// The scripts of a task are modules, too: they have run when this event comes.
document.addEventListener("DOMContentLoaded", () => { root.dataset.ready = task; });
send();
