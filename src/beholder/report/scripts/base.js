// What every part of the page uses. Data is only ever set as text, never parsed as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
const VIEWS = {}; // drawing functions by the name in a score's detail; see the view_*.js files

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  // The rule of beholder/rounding.py: halves of twelve digits go away from zero.
  const size = Math.abs(value);
  const power = 10 ** (size < 10 ? digits : size < 1000 ? 1 : 0);
  const text = (Math.round(Number((size * power).toPrecision(12))) / power).toFixed(Math.log10(power));
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

function isolated(text) {
  return el("bdi", {}, text);
}

// A note beside what is pointed at or focused; shown until hidden.
const tip = el("div", { class: "tip", role: "tooltip", id: "tip", hidden: "" });
document.body.append(tip);

function showTip(box, lines) {
  tip.replaceChildren(...lines);
  tip.hidden = false;
  const width = tip.offsetWidth;
  const height = tip.offsetHeight;
  const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - width - 8));
  const above = box.top - height - 8;
  tip.style.left = `${left}px`;
  tip.style.top = `${above > 8 ? above : box.bottom + 8}px`;
}

function hideTip() {
  tip.hidden = true;
}

document.addEventListener("scroll", hideTip, { passive: true });

for (const button of document.querySelectorAll(".copy")) {
  const code = button.previousElementSibling;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2500);
  });
}
