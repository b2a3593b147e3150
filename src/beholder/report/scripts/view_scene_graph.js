// Scene graphs of the candidate and of each reference: boxes are entities with their attributes,
// arrows are relations; colour and line style say the verdict, as in the texts.

function textWidth(text, weight) {
  textWidth.ruler ??= document.createElement("canvas").getContext("2d");
  textWidth.ruler.font = `${weight} 12px ${getComputedStyle(document.body).fontFamily}`;
  return textWidth.ruler.measureText(shownShort(text)).width;
}

function graphBox(node, texts) {
  const widths = [textWidth(node.name, 600), ...node.attributes.map((key) => textWidth(texts(key), 400))];
  return { width: 17 + Math.max(...widths), height: 9 + 16 * widths.length, gapX: 30, gapY: 22 };
}

function shownShort(text) { return text.length > 28 ? `${text.slice(0, 27)}…` : text; }

// The words of an arrow take room as boxes do, halfway along it, so that they stand on nothing else.
function graphLabel(text) {
  return { width: textWidth(text, 400) + 6, height: 14, gapX: 6, gapY: 8 };
}

// A force layout that is the same at every drawing: springs along arrows, boxes push each other off.
function graphLayout(boxes, springs) {
  const n = boxes.length;
  const at = boxes.map((_, i) => {
    const ring = 60 * Math.sqrt(i);
    return { x: 1.4 * ring * Math.cos(2.4 * i), y: ring * Math.sin(2.4 * i) };
  });
  const rounds = Math.min(300, Math.max(40, Math.round(6e6 / (n * n)))); // the page must not stand still
  for (let round = 0; round < rounds; round += 1) {
    const heat = 16 * (1 - round / rounds) + 0.5;
    const move = at.map((p) => ({ x: -0.012 * p.x, y: -0.02 * p.y }));
    for (let i = 0; i < n; i += 1) {
      for (let j = 0; j < i; j += 1) {
        const [dx, dy] = [at[i].x - at[j].x || 0.1, at[i].y - at[j].y || 0.1];
        const gapX = (boxes[i].width + boxes[j].width) / 2 + Math.min(boxes[i].gapX, boxes[j].gapX);
        const gapY = (boxes[i].height + boxes[j].height) / 2 + Math.min(boxes[i].gapY, boxes[j].gapY);
        const near = Math.min(gapX / Math.abs(dx), gapY / Math.abs(dy));
        const push = near > 1 ? 5 * Math.min(near, 4) : 700 / (dx * dx + dy * dy + 100);
        const size = Math.hypot(dx, dy);
        move[i].x += (push * dx) / size; move[i].y += (push * dy) / size;
        move[j].x -= (push * dx) / size; move[j].y -= (push * dy) / size;
      }
    }
    for (const [i, j] of springs) {
      const [dx, dy] = [at[j].x - at[i].x, at[j].y - at[i].y];
      const size = Math.hypot(dx, dy) || 1;
      const pull = 0.08 * (size - 60);
      move[i].x += (pull * dx) / size; move[i].y += (pull * dy) / size;
      move[j].x -= (pull * dx) / size; move[j].y -= (pull * dy) / size;
    }
    move.forEach((step, i) => {
      const size = Math.hypot(step.x, step.y) || 1;
      const share = Math.min(size, heat) / size;
      at[i].x += step.x * share; at[i].y += step.y * share;
    });
  }
  return at;
}

function graphEdge(from, to, box) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const reach = Math.min(box.width / 2 / (Math.abs(dx) || 1e-6), box.height / 2 / (Math.abs(dy) || 1e-6), 1);
  return { x: to.x - dx * reach, y: to.y - dy * reach };
}

function graphDrawing(graph, title, context, texts) {
  const n = graph.nodes.length;
  const boxes = [...graph.nodes.map((node) => graphBox(node, texts)), ...graph.edges.map(([, , text]) => graphLabel(text))];
  const places = graphLayout(boxes, graph.edges.flatMap(([i, j], edge) => [[i, n + edge], [n + edge, j]]));
  const lows = [0, 0], highs = [60, 40];
  places.forEach((p, i) => {
    lows[0] = Math.min(lows[0], p.x - boxes[i].width / 2 - 10); highs[0] = Math.max(highs[0], p.x + boxes[i].width / 2 + 10);
    lows[1] = Math.min(lows[1], p.y - boxes[i].height / 2 - 10); highs[1] = Math.max(highs[1], p.y + boxes[i].height / 2 + 10);
  });
  const tone = (key) => (key === null ? "part tone-other" : `part tone-${context.tone(key)}`);
  const unit = (key) => (key === null ? {} : { "data-unit": key });
  const arrows = graph.edges.map(([i, j, text, key], edge) => {
    const words = places[n + edge];
    const [start, end] = [graphEdge(words, places[i], boxes[i]), graphEdge(words, places[j], boxes[j])];
    // A curve from box to box that runs through the middle of its words.
    const by = { x: 2 * words.x - (start.x + end.x) / 2, y: 2 * words.y - (start.y + end.y) / 2 };
    const angle = (Math.atan2(end.y - by.y, end.x - by.x) * 180) / Math.PI;
    return svg("g", { class: tone(key), ...unit(key) },
      svg("path", { class: "arrow", d: `M${start.x} ${start.y}Q${by.x} ${by.y} ${end.x} ${end.y}` }),
      svg("path", { class: "tip-of", d: "M0 0L-8 -4L-8 4Z", transform: `translate(${end.x} ${end.y}) rotate(${angle})` }),
      svg("text", { class: "relation", x: words.x, y: words.y + 4, "text-anchor": "middle" }, shownShort(text)));
  });
  const nodes = graph.nodes.map((node, i) => {
    const { width, height } = boxes[i];
    return svg("g", { transform: `translate(${places[i].x - width / 2} ${places[i].y - height / 2})` },
      svg("g", { class: tone(node.unit), ...unit(node.unit) },
        svg("rect", { width, height, rx: 6 }), svg("text", { class: "name", x: 8, y: 17 }, shownShort(node.name))),
      node.attributes.map((key, line) =>
        svg("g", { class: tone(key), ...unit(key) }, svg("text", { x: 8, y: 33 + 16 * line }, shownShort(texts(key))))));
  });
  const [width, height] = [highs[0] - lows[0], highs[1] - lows[1]];
  const drawing = svg("svg", {
    class: "graph", viewBox: `${lows[0]} ${lows[1]} ${width} ${height}`, width, height, role: "img",
    "aria-label": `Scene graph of the ${title}: ${graph.nodes.length} entities, ${graph.edges.length} relations.`,
  }, arrows, nodes);
  return el("figure", { class: "scene" }, el("h4", {}, `Graph of the ${title}`), el("div", { class: "scroll" }, drawing),
    graph.cut ? el("p", { class: "muted" }, `and ${graph.cut} more entities`) : null);
}

VIEWS.scene_graph = (payload, context) => {
  const many = payload.graphs.length > 2;
  const titles = payload.graphs.map((_, i) => (i === 0 ? "candidate" : many ? `reference ${i}` : "reference"));
  const node = el("div", { class: "scenes" });
  payload.graphs.forEach((graph, i) => {
    if (i < 2) node.append(graphDrawing(graph, titles[i], context, context.text));
    else {
      const more = el("details", {}, el("summary", {}, `Graph of the ${titles[i]}`));
      more.addEventListener("toggle", () => {
        if (more.childElementCount === 1) more.append(graphDrawing(graph, titles[i], context, context.text));
      });
      node.append(more);
    }
  });
  return {
    node,
    numbers: new Map(),
    describe: (key) => {
      const detail = context.detail(key);
      const names = { of: "of", contradiction: "the other text says", under: "said of", holds: "units under it", grade: "grade, 1 to 5", identifier: "asked as", reason: "" };
      return Object.entries(names).filter(([name]) => detail[name] !== undefined)
        .map(([name, label]) => [label, name === "grade" ? number(detail[name], 2) : String(detail[name])]);
    },
    related: () => [],
    light: () => {},
  };
};
