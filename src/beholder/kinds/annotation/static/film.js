// Films: k plays, , and . go one frame back and forward; buttons and a slider do the same.

document.querySelectorAll("video[data-fps]").forEach((film, number) => {
  const rate = Number(film.dataset.fps);
  const last = () => Math.max(0, Math.round((film.duration || 0) * rate) - 1);
  const frame = () => Math.min(last(), Math.floor(film.currentTime * rate + 0.001)); // at its end, too
  const make = (name, facts) => Object.assign(document.createElement(name), facts);

  function show(at) {
    if (!film.duration) return; // not loaded, or no film
    film.pause();
    // The middle of a frame: rounding shows no other one.
    film.currentTime = (Math.max(0, Math.min(last(), at)) + 0.5) / rate;
  }
  const acts = {
    k: () => (film.paused ? film.play().catch(() => {}) : film.pause()),
    ",": () => show(frame() - 1),
    ".": () => show(frame() + 1),
  };

  const bar = make("div", { className: "zoom-bar" });
  [["k", "Play", "Play or pause"], [",", "-1", "One frame back: -1"], [".", "+1", "One frame forward: +1"]].forEach(([key, sign, words]) => {
    const button = make("button", { type: "button", textContent: `${sign} `, ariaLabel: words });
    button.append(make("kbd", { textContent: key }));
    button.addEventListener("click", acts[key]);
    bar.append(button);
  });
  const place = make("span", { className: "muted", role: "status" });
  const slider = make("input", { type: "range", min: 0, ariaLabel: "Frame of the film" });
  slider.addEventListener("input", () => show(Number(slider.value)));
  bar.append(slider, place);
  film.after(bar);
  film.addEventListener("click", acts.k);

  const draw = () => {
    if (film.duration) slider.max = last();
    slider.value = frame();
    slider.ariaValueText = `Frame ${frame() + 1}`;
    if (film.paused) place.textContent = `Frame ${frame() + 1}, ${(frame() / rate).toFixed(2)} s`;
  };
  ["loadeddata", "seeked", "pause", "timeupdate"].forEach((name) => film.addEventListener(name, draw));
  film.addEventListener("error", () => { place.textContent = "This browser cannot play the film."; });
  if (film.readyState >= 2) draw();
  if (film.error) film.dispatchEvent(new Event("error"));

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("textarea, select");
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const playing = event.key === "k" && event.repeat;
    if (number || !acts[event.key] || playing || typing || !plain || !document.getElementById("shortcuts").checked) return;
    event.preventDefault();
    acts[event.key]();
  });
});
