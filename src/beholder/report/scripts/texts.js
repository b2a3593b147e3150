// The two sides of an item with their units marked.

// One text. Pieces are [length, unit, unit, ...], widest unit first: a piece under several units is
// nested in as many spans, each with its own line below the words.
function textNode(text, pieces, outcome, numbers) {
  const node = el("p", { class: "text", dir: "auto" });
  const tones = new Map(outcome.verdicts.map((verdict) => [verdict.name, verdict]));
  const begun = new Set();
  const crowded = text.length < 25 * pieces.length; // a number at every word would be in the way
  let at = 0;
  for (const [length, ...keys] of pieces) {
    let inner = document.createTextNode(text.slice(at, at + length));
    at += length;
    for (const key of keys.reverse()) {
      const unit = outcome.units[key];
      const span = el("span", {
        class: `mark tone-${tones.get(unit.verdict).tone}`, "data-unit": key, role: "mark",
      });
      span.style.setProperty("--strength", unit.strength);
      span.style.setProperty("--height", unit.height ?? 0);
      if (!begun.has(key)) {
        begun.add(key);
        span.dataset.begin = "";
        span.tabIndex = -1;
        if (numbers.has(key) && !crowded) span.append(el("sup", { "aria-hidden": "true" }, String(numbers.get(key))));
      }
      span.append(inner);
      inner = span;
    }
    node.append(inner);
  }
  const first = node.querySelector("[data-begin]");
  if (first) first.tabIndex = 0; // one stop for the Tab key a text; arrows go on from there
  return node;
}

function plainText(text) {
  return el("p", { class: "text", dir: "auto" }, text);
}

// What the texts are about, where there is a picture of it.
function picturesNode(item) {
  if (!item.pictures?.length) return null;
  const pictures = item.pictures.map((address, index) =>
    el("img", { class: "photo", src: address, alt: `Picture ${item.pictures.length > 1 ? index + 1 : "that the texts describe"}` }));
  const nHidden = item.n_images - item.pictures.length;
  const note = nHidden > 0 ? el("figcaption", { class: "muted" }, `and ${nHidden} more`) : null;
  return el("figure", { class: "photos" }, pictures, note);
}

function textsNode(item, outcome, numbers, alignedWith) {
  const side = (title, node, note) =>
    el("div", { class: "side" }, el("h4", {}, title, note ? el("span", { class: "muted" }, ` ${note}`) : null), node);
  const marked = Boolean(outcome && outcome.units);
  const references = item.references.map((text, index) => {
    const many = item.references.length > 1;
    const note = many && alignedWith === index ? "aligned with the candidate" : null;
    const node = marked ? textNode(text, outcome.references[index], outcome, numbers) : plainText(text);
    return side(many ? `Reference ${index + 1}` : "Reference", node, note);
  });
  if (!references.length) references.push(side("Reference", el("p", { class: "muted" }, "none")));
  const candidate = marked ? textNode(item.candidate, outcome.candidate, outcome, numbers) : plainText(item.candidate);
  const pictures = picturesNode(item);
  return el("div", { class: pictures ? "texts seen" : "texts" }, pictures, el("div", { class: "follow" }, side("Candidate", candidate)), el("div", { class: "stack" }, references));
}

// Text of each unit, taken from its place unless the unit has words of its own.
function unitTexts(item, outcome) {
  const texts = outcome.units.map((unit) => unit.text ?? "");
  const collect = (text, pieces, textSide) => {
    let at = 0;
    for (const [length, ...keys] of pieces) {
      for (const key of keys) {
        const unit = outcome.units[key];
        if (unit.text === undefined && unit.side === textSide) texts[key] += text.slice(at, at + length);
      }
      at += length;
    }
  };
  collect(item.candidate, outcome.candidate, "candidate");
  item.references.forEach((text, index) => collect(text, outcome.references[index], index));
  return texts;
}

// Arrow keys inside a text: to the mark before or after.
function stepMark(mark, step) {
  const marks = [...mark.closest(".text").querySelectorAll("[data-begin]:not(.off)")];
  const next = marks[marks.indexOf(mark) + step];
  if (!next) return;
  mark.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
