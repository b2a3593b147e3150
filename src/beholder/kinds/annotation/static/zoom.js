// Pictures that can be enlarged: + and - or the buttons; arrow keys, scrolling or dragging move them.

const STEPS = [1, 1.5, 2, 3, 4, 6];

document.querySelectorAll("[data-zoom]").forEach((figure) => {
  const image = figure.querySelector("img");
  if (!image) return;
  const view = document.createElement("div");
  view.className = "zoom";
  view.tabIndex = 0;
  view.setAttribute("role", "group");
  view.setAttribute("aria-label", `${image.alt}: enlarge with + and -`);
  image.replaceWith(view);
  view.append(image);
  let step = 0;

  function zoom(to) {
    const next = Math.max(0, Math.min(STEPS.length - 1, to));
    if (next === step) return;
    const factor = STEPS[next] / STEPS[step];
    const [x, y] = [view.scrollLeft + view.clientWidth / 2, view.scrollTop + view.clientHeight / 2];
    if (step === 0) {
      view.style.height = `${view.clientHeight}px`;
      if (!image.dataset.large) image.src = `${image.src}?large`;
      image.dataset.large = "true";
    }
    const width = step === 0 ? image.clientWidth : image.clientWidth / STEPS[step];
    step = next;
    image.style.width = step === 0 ? "" : `${width * STEPS[step]}px`;
    image.style.maxWidth = step === 0 ? "100%" : "none";
    if (step === 0) view.style.height = "";
    view.classList.toggle("enlarged", step > 0);
    view.scrollLeft = x * factor - view.clientWidth / 2;
    view.scrollTop = y * factor - view.clientHeight / 2;
  }

  const bar = document.createElement("div");
  bar.className = "zoom-bar";
  [["-", -1, "Reduce"], ["+", 1, "Enlarge"]].forEach(([sign, by, words]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = sign;
    button.setAttribute("aria-label", `${words} ${image.alt}`);
    button.addEventListener("click", () => zoom(step + by));
    bar.append(button);
  });
  view.after(bar);

  view.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { "+": 1, "=": 1, "-": -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    zoom(step + by);
  });

  let from = null;
  image.draggable = false;
  view.addEventListener("pointerdown", (event) => {
    if (step === 0 || event.pointerType !== "mouse") return;
    from = { x: event.clientX + view.scrollLeft, y: event.clientY + view.scrollTop };
    view.setPointerCapture(event.pointerId);
  });
  view.addEventListener("pointermove", (event) => {
    if (!from) return;
    view.scrollLeft = from.x - event.clientX;
    view.scrollTop = from.y - event.clientY;
  });
  view.addEventListener("pointerup", () => { from = null; });
  view.addEventListener("dblclick", () => zoom(step ? 0 : 2));
});
