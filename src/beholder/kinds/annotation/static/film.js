// Films: , and . (or the buttons) go one frame back and forward.

document.querySelectorAll("video[data-fps]").forEach((film, number) => {
  const rate = Number(film.dataset.fps);
  const bar = document.createElement("div");
  bar.className = "zoom-bar";
  const place = document.createElement("span");
  place.className = "muted";
  place.setAttribute("role", "status");
  const frame = () => Math.floor(film.currentTime * rate + 0.001);

  function step(by) {
    film.pause();
    const last = Math.max(0, Math.round(film.duration * rate) - 1);
    // The middle of a frame: rounding shows no other one.
    film.currentTime = (Math.max(0, Math.min(last, frame() + by)) + 0.5) / rate;
  }

  [["◀", -1, ",", "back"], ["▶", 1, ".", "forward"]].forEach(([sign, by, key, words]) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${sign} `;
    button.setAttribute("aria-label", `One frame ${words}`);
    const hint = document.createElement("kbd");
    hint.textContent = key;
    button.append(hint);
    button.addEventListener("click", () => step(by));
    bar.append(button);
  });
  bar.append(place);
  film.after(bar);

  ["loadeddata", "seeked", "pause"].forEach((name) => film.addEventListener(name, () => {
    place.textContent = `Frame ${frame() + 1}, ${film.currentTime.toFixed(2)} s`;
  }));
  film.addEventListener("play", () => { place.textContent = ""; });
  film.addEventListener("error", () => { place.textContent = "This browser cannot play the film."; });

  document.addEventListener("keydown", (event) => {
    const by = { ",": -1, ".": 1 }[event.key];
    const here = document.activeElement.matches("video") ? document.activeElement === film : !number;
    const typing = event.target.closest("textarea, select");
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!by || !here || typing || !plain || !document.getElementById("shortcuts").checked) return;
    event.preventDefault();
    step(by);
  });
});
