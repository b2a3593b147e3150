// The units of an item: verdicts as legend and filter, the notable ones as a list, all as a table.

function sideName(item, unit) {
  if (unit.side === "candidate") return "candidate";
  return item.references.length > 1 ? `reference ${unit.side + 1}` : "reference";
}

// Chips, lists and the terminal (`_legend`) count alike: first what the judge is sure of.
function countWords(verdict) {
  return verdict.unsure ? `${verdict.count} + ${verdict.unsure} not sure` : String(verdict.count);
}

function verdictChips(outcome, onChange) {
  const off = new Set();
  const chips = outcome.verdicts.map((verdict) => {
    const chip = el(
      "button",
      { type: "button", class: `chip tone-${verdict.tone}`, "aria-pressed": "true" },
      el("span", { class: "sign", "aria-hidden": "true" }, verdict.symbol),
      el("span", { class: "word" }, verdict.name),
      el("span", { class: "count" }, countWords(verdict)),
    );
    chip.addEventListener("click", () => {
      if (!off.delete(verdict.name)) off.add(verdict.name);
      chip.setAttribute("aria-pressed", String(!off.has(verdict.name)));
      onChange(off);
    });
    return chip;
  });
  return el("div", { class: "chips", role: "group", "aria-label": "Show units by verdict" }, chips);
}

function unitTitle(item, unit, key, numbers) {
  const name = numbers.has(key) ? `${sideName(item, unit)} ${numbers.get(key)}` : `${unit.kind} in the ${sideName(item, unit)}`;
  return name;
}

// What a unit's detail says, as [label, value] pairs: from its view, or the plain JSON values.
function unitFacts(unit, key, view) {
  if (view) return view.describe(key);
  return Object.entries(unit.detail ?? {}).map(([name, value]) => [
    name.replaceAll("_", " "), typeof value === "string" ? value : JSON.stringify(value),
  ]);
}

function unitTip(item, outcome, keys, view, numbers) {
  return keys.map((key) => {
    const unit = outcome.units[key];
    const verdict = outcome.verdicts.find((entry) => entry.name === unit.verdict);
    return el(
      "div",
      { class: "tip-unit" },
      el("p", {},
        el("b", { class: `tone-${verdict.tone} sign` }, `${verdict.symbol} ${unit.verdict}`),
        unit.score === undefined ? null : el("span", { class: "num" }, ` ${number(unit.score)}`)),
      el("p", { class: "muted" }, unitTitle(item, unit, key, numbers)),
      el("dl", {}, unitFacts(unit, key, view).map(([name, value]) => [el("dt", {}, name), el("dd", {}, isolated(value))])),
    );
  });
}

function notableList(item, outcome, texts, view, numbers) {
  const groups = outcome.verdicts.filter((verdict) => verdict.notable).map((verdict) => {
    const units = outcome.units.map((unit, key) => [unit, key]).filter(([unit]) => unit.verdict === verdict.name);
    const entries = units.filter(([unit]) => unit.detail?.under === undefined && !unit.detail?.unsure);
    const within = verdict.count - entries.length;
    const count = countWords(verdict) + (within ? `, ${within} of them within another` : "") + (verdict.unsure ? "; the table has all" : "");
    const rows = entries.map(([unit, key]) =>
      el("li", { "data-unit": key, tabindex: 0 },
        el("span", { class: "where" }, unitTitle(item, unit, key, numbers)),
        el("span", { class: "what", dir: "auto" }, texts[key]),
        el("span", { class: "facts muted" }, unitFacts(unit, key, view).map(([name, value]) => `${name}: ${value}`).join(" · "))));
    return el("div", { class: "notable", "data-verdict": verdict.name },
      el("h4", { class: `tone-${verdict.tone}` }, el("span", { class: "sign" }, `${verdict.symbol} ${verdict.name}`), el("span", { class: "muted" }, ` ${count}`)),
      el("ol", {}, rows));
  });
  const none = outcome.units.length ? "Nothing was found to be wrong, missing or out of order." : "This metric gives a value and no findings.";
  if (!groups.length) groups.push(el("p", { class: "muted" }, none));
  return el("div", { class: "notables" }, groups);
}

function unitTable(item, outcome, texts, numbers) {
  if (!outcome.units.length) return "";
  const details = el("details", { class: "all-units" }, el("summary", {}, `All ${outcome.units.length} units as a table`));
  details.addEventListener("toggle", () => {
    if (details.childElementCount > 1) return;
    const { asked } = document.getElementById("item").dataset; // where questions can be read, if anywhere
    const heads = ["Verdict", "In", "Kind", "Score", "Text", ...(asked ? ["Asked"] : [])].map((name) => el("th", { scope: "col", class: name === "Score" ? "num" : null }, name));
    const rows = outcome.units.map((unit, key) => {
      const verdict = outcome.verdicts.find((entry) => entry.name === unit.verdict);
      return el("tr", { "data-unit": key },
        el("td", { class: `tone-${verdict.tone}` }, el("span", { class: "sign" }, `${verdict.symbol} ${unit.verdict}`), unit.detail?.unsure ? el("span", { class: "muted" }, " (not sure)") : null),
        el("td", {}, unitTitle(item, unit, key, numbers)),
        el("td", {}, unit.kind),
        el("td", { class: "num" }, number(unit.score)),
        el("td", { dir: "auto" }, texts[key]),
        asked && el("td", {}, el("a", { href: `${asked}?q=${encodeURIComponent(texts[key])}` }, "question", el("span", { class: "unseen" }, ` about ${texts[key]}`))));
    });
    details.append(el("div", { class: "scroll", tabindex: 0 }, el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows))));
  });
  return details;
}
