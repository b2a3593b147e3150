// Pictures of a IIIF server (Image API 2 and 3): a copy of the whole, then tiles of what is visible.
// Only the study's server is asked: what info.json says of other addresses is not read.

const MOST_TILES = 400;
const positive = (number) => Number.isFinite(number) && number > 0;

export async function openService(base) {
  const told = await (await fetch(`${base}/info.json`, { credentials: "omit" })).json();
  const { width, height } = told;
  if (!positive(width) || !positive(height)) throw new Error("info.json gives no size");
  const third = String(told["@context"]).includes("/image/3");
  const fixed = JSON.stringify(told.profile ?? "").includes("level0"); // only what info.json lists
  const given = (told.tiles || [])[0];
  const side = Math.max(64, given?.width || 1024);
  const tall = Math.max(64, given?.height || side);
  const doubled = Array.from({ length: 12 }, (_, n) => 2 ** n).filter((f) => f * 256 < width);
  const factors = (given?.scaleFactors || (fixed ? [] : doubled)).filter(positive);
  const size = (w, h) => (third ? `${w},${h}` : `${w},`);
  const all = third ? "max" : "full";

  return {
    width,
    height,
    side,
    tall,
    factors: factors.sort((a, b) => b - a),
    // A copy of the whole picture with so many pixels in its width, or with fewer.
    whole(wanted) {
      const sizes = [...(told.sizes || [])].sort((a, b) => a.width - b.width);
      const listed = sizes.find((one) => one.width >= wanted) || (fixed && sizes.at(-1));
      let text = all;
      if (listed) text = size(listed.width, listed.height);
      else if (width > wanted && !fixed) text = `${wanted},`;
      return `${base}/full/${text}/0/default.jpg`;
    },
    tile(x, y, w, h, factor) {
      const whole = w === width && h === height;
      const text = whole && factor === 1 ? all : size(Math.ceil(w / factor), Math.ceil(h / factor));
      return `${base}/${whole ? "full" : `${x},${y},${w},${h}`}/${text}/0/default.jpg`;
    },
  };
}

// A function that loads the tiles of the visible part, in the resolution of the screen.
export function tilesIn(view, image, service) {
  const layer = document.createElement("div");
  layer.className = "tiles";
  layer.setAttribute("aria-hidden", "true");
  view.append(layer);
  const made = new Map();

  function put(factor, x, y) {
    const key = `${factor} ${x} ${y}`;
    if (made.has(key)) return;
    const w = Math.min(service.side * factor, service.width - x);
    const h = Math.min(service.tall * factor, service.height - y);
    const tile = document.createElement("img");
    tile.alt = "";
    const share = (part, whole) => `${(100 * part) / whole}%`;
    tile.style.left = share(x, service.width);
    tile.style.top = share(y, service.height);
    tile.style.width = share(w, service.width);
    tile.style.height = share(h, service.height);
    tile.addEventListener("error", () => tile.remove());
    tile.src = service.tile(x, y, w, h, factor);
    made.set(key, tile);
    layer.append(tile);
  }

  return () => {
    layer.style.width = `${image.clientWidth}px`;
    layer.style.height = `${image.clientHeight}px`;
    const scale = image.clientWidth / service.width; // pixels of the screen per pixel
    if (!view.classList.contains("enlarged") || !scale || !service.factors.length) return;
    const finest = service.factors.at(-1);
    const factor = service.factors.find((f) => f * scale * window.devicePixelRatio <= 1) || finest;
    const [across, down] = [service.side * factor, service.tall * factor];
    const first = (edge, step) => Math.max(0, Math.floor(edge / scale / step) * step);
    const right = Math.min(service.width, (view.scrollLeft + view.clientWidth) / scale);
    const bottom = Math.min(service.height, (view.scrollTop + view.clientHeight) / scale);
    if (made.size > MOST_TILES) {
      made.clear();
      layer.replaceChildren();
    }
    for (let y = first(view.scrollTop, down); y < bottom; y += down) {
      for (let x = first(view.scrollLeft, across); x < right; x += across) put(factor, x, y);
    }
  };
}
