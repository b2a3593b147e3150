// Pictures that can be enlarged: + and - or the buttons; arrow keys, scrolling or dragging move them.

import { openService, tilesIn } from "/annotate/iiif.js";

const STEPS = [1, 1.5, 2, 3, 4, 6];
const FITTED = 1200; // pixels of the first copy

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
  const steps = [...STEPS];
  let step = 0;
  let fitted = 0;
  let refine = () => { // a larger copy of a picture of the study
    if (step > 0 && !image.dataset.large) image.src += "?large";
    if (step > 0) image.dataset.large = "true";
  };

  if (image.dataset.iiif) {
    refine = () => {};
    openService(image.dataset.iiif).then((service) => {
      image.src = service.whole(FITTED);
      refine = tilesIn(view, image, service);
      // Until two pixels of the screen show one of the picture.
      for (let at = 8; at < (2 * service.width) / Math.max(200, view.clientWidth); at *= 1.5) steps.push(at);
    }).catch(() => {
      const words = document.createElement("p");
      words.className = "notice failed";
      words.textContent = `${image.alt} cannot be loaded from ${new URL(image.dataset.iiif).host}.`;
      view.replaceChildren(words);
    });
  }

  function zoom(to) {
    const next = Math.max(0, Math.min(steps.length - 1, to));
    if (next === step || !image.clientWidth) return;
    const factor = steps[next] / steps[step];
    const [x, y] = [view.scrollLeft + view.clientWidth / 2, view.scrollTop + view.clientHeight / 2];
    if (step === 0) {
      fitted = image.clientWidth;
      view.style.height = `${view.clientHeight}px`;
    }
    step = next;
    view.classList.toggle("enlarged", step > 0);
    image.style.width = step === 0 ? "" : `${fitted * steps[step]}px`;
    if (step === 0) view.style.height = "";
    view.scrollLeft = x * factor - view.clientWidth / 2;
    view.scrollTop = y * factor - view.clientHeight / 2;
    refine();
  }

  view.addEventListener("scroll", () => refine());

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
