// One item: its values, its texts with their units, its pictures, its views.

function itemView(item, metricIndex, onMetric, onStep, place) {
  const metric = data.metrics[metricIndex];
  const outcome = item.outcomes[metricIndex];
  const marked = Boolean(outcome && outcome.units);
  const node = document.getElementById("item");
  const verdict = (key) => outcome.verdicts.find((entry) => entry.name === outcome.units[key]?.verdict);
  let view = null;
  const light = (keys) => {
    const lit = new Set(keys.map(String));
    for (const marks of node.querySelectorAll("[data-unit]")) marks.classList.toggle("lit", lit.has(marks.dataset.unit));
    if (view) view.light(keys);
  };
  const themes = [];
  const texts = marked ? unitTexts(item, outcome) : [];
  if (marked && outcome.view && VIEWS[outcome.view.name]) {
    view = VIEWS[outcome.view.name](outcome.view, {
      light, text: (key) => texts[key], detail: (key) => outcome.units[key].detail ?? {}, tone: (key) => (outcome.units[key]?.detail?.unsure ? "unsure" : verdict(key)?.tone ?? "good"), notable: (key) => verdict(key)?.notable, onTheme: (react) => themes.push(react),
    });
  }
  const numbers = view ? view.numbers : new Map();

  const step = (by, name, sign) => {
    const button = el("button", { type: "button", "aria-label": name, title: name }, sign);
    button.addEventListener("click", () => onStep(by));
    return button;
  };
  const groups = Object.entries(item.group).map(([name, value]) =>
    el("span", { class: "tag" }, isolated(name), ": ", isolated(value)));
  const tabs = data.metrics.length > 1 && el("div", { class: "tabs", role: "group", "aria-label": "Metric" }, data.metrics.map((known, index) => {
    const tab = el("button", { type: "button", "aria-pressed": String(index === metricIndex) }, known.name);
    tab.addEventListener("click", () => onMetric(index));
    return tab;
  }));
  node.replaceChildren(el("header", { class: "item-head" },
    el("div", {}, el("h3", {}, isolated(item.id)), el("p", { class: "tags" }, groups)),
    el("p", { class: "steps" }, el("span", { class: "muted" }, place), step(-1, "Previous item", "←"), step(1, "Next item", "→"))));
  if (tabs) node.append(tabs);
  if (outcome && outcome.failure !== undefined) {
    node.append(el("p", { class: "notice failed" }, el("b", {}, "Not scored. "), isolated(outcome.failure)));
  } else if (!outcome) {
    node.append(el("p", { class: "notice" }, "Not finished yet."));
  } else {
    const values = metric.values.filter((value) => Object.hasOwn(outcome.values, value.name));
    node.append(el("dl", { class: "scores" }, values.map((value) =>
      el("div", { title: value.help }, el("dt", {}, value.name), el("dd", {}, number(outcome.values[value.name]))))));
  }
  if (!marked) {
    node.append(textsNode(item, null, numbers, null));
    return { themes };
  }
  const chips = verdictChips(outcome, (off) => {
    if (!chips.isConnected) return; // another item is shown by now
    for (const mark of node.querySelectorAll("[data-unit]")) {
      mark.classList.toggle("off", off.has(outcome.units[Number(mark.dataset.unit)].verdict));
    }
    for (const group of node.querySelectorAll(".notable")) group.hidden = off.has(group.dataset.verdict);
  });
  node.append(chips, textsNode(item, outcome, numbers, outcome.view?.reference ?? null));
  const findings = notableList(item, outcome, texts, view, numbers);
  node.append(view ? el("div", { class: "lower" }, view.node, findings) : findings, unitTable(item, outcome, texts, numbers));

  const point = (target, withTip) => {
    const mark = target.closest?.("[data-unit]");
    if (!mark || mark.classList.contains("off")) return;
    const covering = [];
    for (let at = mark; at; at = at.parentElement?.closest("[data-unit]")) covering.push(Number(at.dataset.unit));
    light([...covering, ...(view ? view.related(covering[0]) : [])]);
    if (withTip && mark.classList.contains("mark")) {
      showTip(mark.getClientRects()[0], unitTip(item, outcome, covering, view, numbers));
    }
  };
  node.onpointerover = (event) => point(event.target, true);
  node.onpointerout = (event) => { if (event.target.closest("[data-unit]")) { light([]); hideTip(); } };
  node.onfocusin = (event) => point(event.target, true);
  node.onfocusout = (event) => { if (event.target.closest("[data-unit]")) { light([]); hideTip(); } };
  node.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") hideTip();
    if (!by || !event.target.matches(".mark")) return;
    event.preventDefault();
    event.stopPropagation();
    stepMark(event.target, by);
  };
  return { themes };
}
