// The page of one item: all its metrics; arrow keys go through the list that led here.
function startItem() {
  const [item] = data.items;
  const chosen = document.getElementById("item").dataset.chosen;
  let metricIndex = Math.max(0, data.metrics.findIndex((metric) => metric.name === chosen));
  let themes = [];
  const go = (by) => document.querySelector(by > 0 ? "a[rel=next]" : "a[rel=prev]")?.click();
  const draw = () => {
    hideTip();
    themes = itemView(item, metricIndex, (index) => { metricIndex = index; draw(); }, go, "").themes;
  };
  draw();
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    if (event.key === "ArrowRight" || event.key === "j") go(1);
    else if (event.key === "ArrowLeft" || event.key === "k") go(-1);
  });
  dark.addEventListener("change", () => themes.forEach((react) => react(dark.matches)));
  addEventListener("beforeprint", () => themes.forEach((react) => react(false)));
  addEventListener("afterprint", () => themes.forEach((react) => react(dark.matches)));
}

if (data.items.length) startItem();
