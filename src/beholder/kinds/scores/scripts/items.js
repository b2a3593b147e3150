// The item browser: choose an item, read it, go on to the next.
const browser = document.getElementById("browser");

function startBrowser() {
  const [search, sort, list, count] = ["search", "sort", "list", "found"].map((id) => document.getElementById(id));
  const haystack = new Map(data.items.map((item) => [
    item, [item.id, ...Object.values(item.group), item.candidate, ...item.references].join("\n").toLowerCase(),
  ]));
  let metricIndex = 0;
  let matchingItems = [];
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
      if (data.metrics[metricIndex].values[0].up === false) name = name === "up" ? "down" : "up";
    }
    return orders[name](a, b) || a.position - b.position;
  };
  const fillList = () => {
    const directed = data.metrics[metricIndex].values[0].up !== null;
    sort.querySelector('[value="up"]').textContent = `score, ${directed ? "worst" : "lowest"} first`;
    sort.querySelector('[value="down"]').textContent = `score, ${directed ? "best" : "highest"} first`;
    const words = search.value.toLowerCase();
    matchingItems = data.items.filter((item) => haystack.get(item).includes(words)).sort(order);
    count.textContent = !words ? "" : matchingItems.length ? `${matchingItems.length} of ${data.items.length}` : `nothing matches “${search.value}”`;
    list.replaceChildren(...matchingItems.map((item) => {
      const value = score(item);
      const state = value !== undefined ? number(value) : item.outcomes[metricIndex] ? "failed" : "open";
      return el("li", {}, el("a", { href: `#item-${item.position}`, "aria-current": item === chosen ? "true" : null },
        isolated(item.id), el("span", { class: value === undefined ? "num failed" : "num" }, state)));
    }));
  };
  const draw = () => {
    const at = matchingItems.indexOf(chosen);
    const place = at < 0 ? "" : `${at + 1} of ${matchingItems.length}`;
    hideTip();
    themes = itemView(chosen, metricIndex, (index) => { metricIndex = index; fillList(); draw(); }, go, place).themes;
    for (const link of list.querySelectorAll("a")) {
      const isChosen = link.getAttribute("href") === `#item-${chosen.position}`;
      if (isChosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
      if (isChosen) list.scrollTop = Math.max(0, link.offsetTop - list.clientHeight / 2);
    }
  };
  const go = (by) => {
    const at = matchingItems.indexOf(chosen);
    const next = matchingItems[at < 0 ? 0 : at + by];
    if (!next) return;
    chosen = next;
    history.replaceState(null, "", `#item-${next.position}`);
    draw();
  };
  const fromAddress = () => {
    const position = /^#item-(\d+)$/.exec(location.hash)?.[1];
    const item = data.items.find((candidate) => String(candidate.position) === position);
    if (!item) return false;
    chosen = item;
    draw();
    return true;
  };

  browser.hidden = false;
  search.addEventListener("input", fillList);
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    if (search.value) { search.value = ""; fillList(); }
    else search.blur();
  });
  sort.addEventListener("change", () => { fillList(); draw(); });
  fillList();
  chosen = matchingItems[0];
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
