// The alignment of two texts: similarity matrix, the band where matches are expected, the matches.
// A view gets its payload and a context (units, how to light units up) and returns
// { node, numbers, describe(unit), related(unit), light(units) }.

const RAMPS = {
  light: [[255, 255, 255], [222, 235, 247], [158, 202, 225], [66, 146, 198], [8, 69, 148], [8, 38, 86]],
  dark: [[20, 24, 29], [22, 42, 66], [25, 70, 115], [40, 115, 175], [110, 175, 225], [215, 235, 250]],
};

function rampColour(share, ramp) {
  const at = share * (ramp.length - 1);
  const low = Math.min(Math.floor(at), ramp.length - 2);
  return ramp[low].map((channel, i) => Math.round(channel + (at - low) * (ramp[low + 1][i] - channel)));
}

function matrixImage(bytes, shape, ramp) {
  const canvas = el("canvas", { width: shape[1], height: shape[0] });
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(shape[1], shape[0]);
  bytes.forEach((byte, i) => image.data.set([...rampColour(byte / 255, ramp), 255], 4 * i));
  pen.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

function bandPath(windows, size) {
  const top = windows.map(([start], column) => `${column ? "V" : "M0 "}${start * size}H${(column + 1) * size}`);
  const bottom = windows.map(([, end], column) => `V${end * size}H${column * size}`).reverse();
  return `${top.join("")}${bottom.join("")}Z`;
}

VIEWS.alignment = (payload, context) => {
  const { rows, columns, windows, matches, units } = payload;
  const numbers = new Map();
  for (const side of [units.candidate, units.reference]) side.forEach((key, i) => numbers.set(key, i + 1));
  const place = new Map();
  units.candidate.forEach((key, i) => place.set(key, { side: "candidate", index: i }));
  units.reference.forEach((key, i) => place.set(key, { side: "reference", index: i }));

  const bytes = Uint8Array.from(atob(payload.cells), (c) => c.charCodeAt(0));
  const pooled = payload.shape[0] < rows || payload.shape[1] < columns;
  const cell = (row, column) =>
    payload.low + (payload.high - payload.low) / 255 *
    bytes[Math.floor(((row + 0.5) * payload.shape[0]) / rows) * payload.shape[1] + Math.floor(((column + 0.5) * payload.shape[1]) / columns)];

  const size = Math.min(30, 460 / Math.max(rows, columns));
  const [left, top, width, height] = [46, 40, columns * size, rows * size];
  const picture = svg("image", { width, height, preserveAspectRatio: "none", class: "cells" });
  const paint = (ramp) => picture.setAttribute("href", matrixImage(bytes, payload.shape, ramp));
  paint(RAMPS[dark.matches ? "dark" : "light"]);
  context.onTheme((isDark) => paint(RAMPS[isDark ? "dark" : "light"]));

  const tone = (key) => `tone-${context.tone(key)}`;
  const radius = Math.max(1.2, Math.min(4.5, size * 0.2));
  const centre = (i) => (i + 0.5) * size;
  const circles = matches.precision.map((row, column) =>
    svg("circle", { cx: centre(column), cy: centre(row), r: radius, class: `match ${tone(units.candidate[column])}` }));
  const diamonds = matches.recall.map((column, row) => {
    const d = radius * 1.9;
    return svg("path", {
      d: `M${centre(column)} ${centre(row) - d}l${d} ${d}l${-d} ${d}l${-d} ${-d}Z`, class: `match ${tone(units.reference[row])}`,
    });
  });
  const line = svg("polyline", { points: matches.precision.map((row, column) => `${centre(column)},${centre(row)}`).join(" ") });
  const layers = {
    "expected places": svg("g", { class: "band" }, svg("path", { d: bandPath(windows.precision, size) })),
    "order of the candidate": svg("g", { class: "order" }, line),
    "match of a reference chunk": svg("g", { class: "from-reference" }, diamonds),
    "match of a candidate chunk": svg("g", { class: "from-candidate" }, circles),
  };
  const crossRow = svg("rect", { class: "cross", x: 0, width, height: size, visibility: "hidden" });
  const crossColumn = svg("rect", { class: "cross", y: 0, height, width: size, visibility: "hidden" });

  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((n) => n * size >= 20) ?? 2000;
  const ticks = (n, horizontal) =>
    Array.from({ length: n }, (_, i) => i).filter((i) => i === 0 || (i + 1) % step === 0).map((i) =>
      horizontal
        ? svg("text", { x: centre(i), y: -6, "text-anchor": "middle" }, String(i + 1))
        : svg("text", { x: -7, y: centre(i) + 4, "text-anchor": "end" }, String(i + 1)));
  const plot = svg("g", { transform: `translate(${left} ${top})` },
    picture, svg("rect", { class: "frame", width, height }), ticks(columns, true), ticks(rows, false),
    svg("text", { class: "axis-title", x: 0, y: -24 }, "candidate chunk →"),
    svg("text", { class: "axis-title", transform: `translate(-32 0) rotate(-90)`, "text-anchor": "end" }, "← reference chunk"),
    crossRow, crossColumn, Object.values(layers));
  const fullWidth = Math.max(left + width + 8, 170);
  const fullHeight = Math.max(top + height + 8, 170);
  const unexpected = [...units.candidate, ...units.reference].filter((key) => context.notable(key)).length;
  const drawing = svg("svg", {
    class: "matrix", viewBox: `0 0 ${fullWidth} ${fullHeight}`, width: fullWidth, height: fullHeight, tabindex: 0, role: "img",
    "aria-label": `Similarity of ${rows} reference chunks and ${columns} candidate chunks; ${unexpected} chunks are unmatched or out of order. Arrow keys read single cells.`,
  }, plot);
  const readout = el("p", { class: "readout muted", "aria-live": "polite" }, "Point at a cell to see its two chunks.");

  let current = null;
  const cross = (row, column) => {
    crossRow.setAttribute("visibility", row === null ? "hidden" : "visible");
    crossColumn.setAttribute("visibility", column === null ? "hidden" : "visible");
    if (row !== null) crossRow.setAttribute("y", row * size);
    if (column !== null) crossColumn.setAttribute("x", column * size);
  };
  const show = (row, column) => {
    current = [row, column];
    context.light([units.candidate[column], units.reference[row]]);
    const about = pooled ? "highest similarity around it" : "similarity";
    readout.textContent = `candidate ${column + 1} and reference ${row + 1}: ${about} ${number(cell(row, column), 2)}`;
  };
  drawing.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
    const row = Math.floor(((event.clientY - box.top) / box.height) * rows);
    if (column < 0 || row < 0 || column >= columns || row >= rows) return context.light([]);
    if (!current || current[0] !== row || current[1] !== column) show(row, column);
  });
  drawing.addEventListener("pointerleave", () => { current = null; context.light([]); });
  drawing.addEventListener("blur", () => { current = null; context.light([]); });
  drawing.addEventListener("keydown", (event) => {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    const [row, column] = current ?? [-move[0], -move[1]];
    show(Math.max(0, Math.min(rows - 1, row + move[0])), Math.max(0, Math.min(columns - 1, column + move[1])));
  });

  const symbols = {
    "expected places": svg("rect", { x: 3, y: 3, width: 14, height: 14, class: "band" }),
    "order of the candidate": svg("path", { d: "M2 16L10 6L18 11", class: "order" }),
    "match of a reference chunk": svg("path", { d: "M10 2l8 8l-8 8l-8 -8Z", class: "match tone-good" }),
    "match of a candidate chunk": svg("circle", { cx: 10, cy: 10, r: 5, class: "match tone-good" }),
  };
  const switches = Object.entries(layers).map(([name, layer]) => {
    const box = el("input", { type: "checkbox", checked: "" });
    box.addEventListener("change", () => layer.setAttribute("visibility", box.checked ? "visible" : "hidden"));
    return el("label", {}, box, svg("svg", { viewBox: "0 0 20 20", width: 16, height: 16, "aria-hidden": "true" }, symbols[name]), name);
  });
  const scale = el("p", { class: "ramp" },
    el("span", {}, `similarity ${number(payload.low, 2)}`), el("span", { class: "ramp-bar", "aria-hidden": "true" }), el("span", {}, number(payload.high, 2)));
  const node = el("figure", { class: "alignment" },
    el("h4", {}, "Alignment"), el("div", { class: "scroll" }, drawing), readout,
    el("figcaption", {}, scale, el("div", { class: "switches" }, switches),
      pooled ? el("p", { class: "muted" }, `Drawn in ${payload.shape[0]} by ${payload.shape[1]} blocks by their highest cell.`) : null));

  const expectation = (key) => {
    const { side, index } = place.get(key);
    return side === "candidate" ? ["reference", matches.precision[index], windows.precision[index]] : ["candidate", matches.recall[index], windows.recall[index]];
  };
  return {
    node,
    numbers,
    describe(key) {
      if (!place.has(key)) return [];
      const [side, match, [start, end]] = expectation(key);
      const expected = end - start === 1 ? `${side} ${start + 1}` : `${side} ${start + 1} to ${end}`;
      const away = match < start ? start - match : match >= end ? match - end + 1 : 0;
      const facts = [["nearest", `${side} ${match + 1}`], ["expected", expected]];
      return away ? [...facts, ["outside by", String(away)]] : facts;
    },
    related(key) {
      if (!place.has(key)) return [];
      const [side, match] = expectation(key);
      return [units[side][match]];
    },
    light(keys) {
      const at = (side) => keys.map((key) => place.get(key)).find((chunk) => chunk && chunk.side === side);
      cross(at("reference")?.index ?? null, at("candidate")?.index ?? null);
    },
  };
};
