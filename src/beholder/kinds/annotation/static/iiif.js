// Pictures of a IIIF server (Image API 2 and 3): a copy of the whole, then tiles of what is visible.
// Only the study's server is asked: what info.json says of other addresses is not read.

const MOST_TILES = 400;
const positive = (number) => Number.isFinite(number) && number > 0;

export async function openService(base) {
  const info = await (await fetch(`${base}/info.json`, { credentials: "omit" })).json();
  const { width, height } = info;
  if (!positive(width) || !positive(height)) throw new Error("info.json gives no size");
  const third = String(info["@context"]).includes("/image/3");
  const fixed = JSON.stringify(info.profile ?? "").includes("level0"); // only what info.json lists
  const tiling = (info.tiles || [])[0];
  const side = Math.max(64, tiling?.width || 1024);
  const tall = Math.max(64, tiling?.height || side);
  const doubled = Array.from({ length: 12 }, (_, n) => 2 ** n).filter((f) => f * 256 < width);
  const factors = (tiling?.scaleFactors || (fixed ? [] : doubled)).filter(positive);
  const size = (w, h) => (third ? `${w},${h}` : `${w},`);
  const all = third ? "max" : "full";

  return {
    width,
    height,
    side,
    tall,
    factors: factors.sort((a, b) => b - a),
    // A copy of the whole picture with so many pixels in its width, or with fewer.
    whole(minWidth) {
      const sizes = [...(info.sizes || [])].sort((a, b) => a.width - b.width);
      const listed = sizes.find((listedSize) => listedSize.width >= minWidth) || (fixed && sizes.at(-1));
      let text = all;
      if (listed) text = size(listed.width, listed.height);
      else if (width > minWidth && !fixed) text = `${minWidth},`;
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
  const tilesByKey = new Map();

  function put(factor, x, y) {
    const key = `${factor} ${x} ${y}`;
    if (tilesByKey.has(key)) return;
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
    tilesByKey.set(key, tile);
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
    if (tilesByKey.size > MOST_TILES) {
      tilesByKey.clear();
      layer.replaceChildren();
    }
    for (let y = first(view.scrollTop, down); y < bottom; y += down) {
      for (let x = first(view.scrollLeft, across); x < right; x += across) put(factor, x, y);
    }
  };
}
