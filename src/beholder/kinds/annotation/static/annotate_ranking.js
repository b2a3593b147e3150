// A ranking: texts move by dragging, buttons or keys; every move is an act.

import { act, badge, judgment, onChange, onShown } from "/annotate/annotate.js";

const list = document.getElementById("ranking");
const statusLine = document.getElementById("status");
const cards = () => [...list.children];
const order = () => cards().map((card) => Number(card.dataset.place));
const firstOrder = order();

function draw(places) {
  const byPlace = new Map(cards().map((card) => [Number(card.dataset.place), card]));
  const focused = list.contains(document.activeElement) ? document.activeElement : null;
  if (JSON.stringify(places) !== JSON.stringify(order())) {
    list.append(...places.map((place) => byPlace.get(place)));
    if (focused) focused.focus();
  }
  cards().forEach((card, at) => {
    const rank = at + 1;
    card.querySelector(".rank").textContent = rank;
    card.setAttribute("aria-label", `Text ${card.dataset.name}, place ${rank} of ${cards().length}`);
  });
}

function move(card, to) {
  const places = order();
  const from = cards().indexOf(card);
  const target = Math.max(0, Math.min(places.length - 1, to));
  if (target === from) return;
  places.splice(target, 0, ...places.splice(from, 1));
  act("order", places);
  statusLine.textContent = `Text ${card.dataset.name} is at place ${target + 1}`;
}

list.addEventListener("click", (event) => {
  const button = event.target.closest("[data-move]");
  if (!button) return;
  const card = button.closest("li");
  move(card, cards().indexOf(card) + Number(button.dataset.move));
  button.focus();
});

list.addEventListener("keydown", (event) => {
  const card = event.target.closest("li");
  if (!card || event.ctrlKey || event.metaKey || event.altKey) return;
  const at = cards().indexOf(card);
  const step = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: cards().length - 1 }[event.key];
  const typed = document.getElementById("shortcuts").checked && /^[1-9]$/.test(event.key);
  const to = typed ? Number(event.key) - 1 : step;
  if (to === undefined) return;
  event.preventDefault();
  move(card, to);
  card.focus();
});

let dragged = null;
list.addEventListener("dragstart", (event) => {
  dragged = event.target.closest("li");
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", "");
});
list.addEventListener("dragover", (event) => {
  if (dragged) event.preventDefault();
});
list.addEventListener("drop", (event) => {
  const card = event.target.closest("li");
  if (!dragged || !card) return;
  event.preventDefault();
  move(dragged, cards().indexOf(card));
  dragged = null;
});

// The first order is random: an annotator who agrees with it confirms it before finishing.
const right = document.getElementById("order-right");
right.addEventListener("click", () => {
  if (!("order" in judgment())) act("order", order());
});

onShown((others) => others.forEach(({ label, judgment: own }) => {
  (own.order || []).forEach((place, at) => {
    badge(list.querySelector(`[data-place="${place}"] .read`), `${label}: place ${at + 1}`);
  });
}));

onChange((state) => {
  draw(state.order || firstOrder);
  right.setAttribute("aria-pressed", String("order" in state));
  right.setAttribute("aria-disabled", String("order" in state));
});
