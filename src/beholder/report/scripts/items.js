// The item view: choose an item, read it, go on to the next.
const browser = document.getElementById("browser");

function itemView(item, metricIndex, onMetric, onStep, place) {
  const metric = data.metrics[metricIndex];
  const outcome = item.outcomes[metricIndex];
  const marked = Boolean(outcome && outcome.units);
  const node = document.getElementById("item");
  const verdict = (key) => outcome.verdicts.find((known) => known.name === outcome.units[key]?.verdict);
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
      light, text: (key) => texts[key], detail: (key) => outcome.units[key].detail ?? {}, tone: (key) => verdict(key)?.tone ?? "good", notable: (key) => verdict(key)?.notable, onTheme: (react) => themes.push(react),
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

function startBrowser() {
  const [search, sort, list, found] = ["search", "sort", "list", "found"].map((id) => document.getElementById(id));
  const haystack = new Map(data.items.map((item) => [
    item, [item.id, ...Object.values(item.group), item.candidate, ...item.references].join("\n").toLowerCase(),
  ]));
  let metricIndex = 0;
  let shown = [];
  let chosen = null;
  let themes = [];

  const score = (item) => {
    const values = item.outcomes[metricIndex]?.values ?? {};
    const { name } = data.metrics[metricIndex].values[0];
    return Object.hasOwn(values, name) ? values[name] : undefined;
  };
  const orders = {
    up: (a, b) => score(a) - score(b),
    down: (a, b) => score(b) - score(a),
    position: (a, b) => a.position - b.position,
    id: (a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  };
  const order = (a, b) => {
    let name = sort.value;
    if (name === "up" || name === "down") {
      const missing = (score(a) === undefined) - (score(b) === undefined);
      if (missing || score(a) === undefined) return missing || a.position - b.position;
      if (!data.metrics[metricIndex].values[0].up) name = name === "up" ? "down" : "up";
    }
    return orders[name](a, b) || a.position - b.position;
  };
  const fillList = () => {
    const words = search.value.toLowerCase();
    shown = data.items.filter((item) => haystack.get(item).includes(words)).sort(order);
    found.textContent = words ? `${shown.length} of ${data.items.length}` : "";
    list.replaceChildren(...shown.map((item) => {
      const value = score(item);
      const state = value !== undefined ? number(value) : item.outcomes[metricIndex] ? "failed" : "open";
      return el("li", {}, el("a", { href: `#item-${item.position}`, "aria-current": item === chosen ? "true" : null },
        isolated(item.id), el("span", { class: value === undefined ? "num failed" : "num" }, state)));
    }));
  };
  const draw = () => {
    const at = shown.indexOf(chosen);
    const place = at < 0 ? "" : `${at + 1} of ${shown.length}`;
    hideTip();
    themes = itemView(chosen, metricIndex, (index) => { metricIndex = index; fillList(); draw(); }, go, place).themes;
    for (const link of list.querySelectorAll("a")) {
      const own = link.getAttribute("href") === `#item-${chosen.position}`;
      if (own) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
      if (own) list.scrollTop = Math.max(0, link.offsetTop - list.clientHeight / 2);
    }
  };
  const go = (by) => {
    const at = shown.indexOf(chosen);
    const next = shown[at < 0 ? 0 : at + by];
    if (!next) return;
    chosen = next;
    history.replaceState(null, "", `#item-${next.position}`);
    draw();
  };
  const fromAddress = () => {
    const position = /^#item-(\d+)$/.exec(location.hash)?.[1];
    const item = data.items.find((known) => String(known.position) === position);
    if (!item) return false;
    chosen = item;
    draw();
    return true;
  };

  browser.hidden = false;
  search.addEventListener("input", fillList);
  sort.addEventListener("change", () => { fillList(); draw(); });
  fillList();
  chosen = shown[0];
  if (fromAddress()) browser.scrollIntoView();
  else draw();
  addEventListener("hashchange", () => { if (fromAddress()) browser.scrollIntoView(); });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    if (event.key === "/") { event.preventDefault(); search.focus(); }
    else if (event.key === "ArrowRight" || event.key === "j") go(1);
    else if (event.key === "ArrowLeft" || event.key === "k") go(-1);
  });
  dark.addEventListener("change", () => themes.forEach((react) => react(dark.matches)));
  addEventListener("beforeprint", () => themes.forEach((react) => react(false)));
  addEventListener("afterprint", () => themes.forEach((react) => react(dark.matches)));
}

if (browser && data.items.length) startBrowser();
