// What both lessons draw with.
const $ = id => document.getElementById(id);
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

// svg makes an element of SVG with these attributes, below a parent.
function svg(parent, name, attributes = {}) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  parent?.append(e);
  return e;
}

// number shows three digits or so, and a true minus.
function number(x) {
  const a = Math.abs(x);
  const text = a === 0 ? "0" : a >= 1e5 || a < 1e-4 ? x.toExponential(1) : a >= 100 ? x.toFixed(0) : a >= 10 ? x.toFixed(1) : x.toFixed(a < .01 ? 4 : 2);
  return text.replace(/-/g, "−");
}

const percent = x => `${(100 * x).toFixed(0)} %`;
const mix = (a, b, t) => a + (b - a) * t;
const pause = ms => new Promise(done => setTimeout(done, still ? 0 : ms));

// glide calls draw with 0 to 1, slow at both ends, and resolves at 1. A stop makes it jump there.
function glide(ms, draw, stopped = () => false) {
  return new Promise(done => {
    const begin = performance.now();
    const frame = now => {
      const t = still || ms === 0 || stopped() ? 1 : Math.min(1, Math.max(0, now - begin) / ms);
      draw(t * t * (3 - 2 * t));
      if (t < 1) requestAnimationFrame(frame); else done();
    };
    frame(begin);
  });
}

// contour returns a path of f = 0 on a grid of n×n values, row by row, over the square from −half to half (marching squares).
function contour(f, n, half) {
  let path = "";
  const at = k => half * (2 * k / (n - 1) - 1);
  for (let i = 0; i + 1 < n; i++) for (let j = 0; j + 1 < n; j++) {
    const corners = [[j, i], [j + 1, i], [j + 1, i + 1], [j, i + 1]], cut = [];
    for (let k = 0; k < 4; k++) {
      const [x0, y0] = corners[k], [x1, y1] = corners[(k + 1) % 4], a = f[y0 * n + x0], b = f[y1 * n + x1];
      if (a <= 0 !== b <= 0) cut.push([mix(at(x0), at(x1), a / (a - b)), -mix(at(y0), at(y1), a / (a - b))]);
    }
    for (let k = 0; k + 1 < cut.length; k += 2)
      path += `M${cut[k].map(v => v.toFixed(3))}L${cut[k + 1].map(v => v.toFixed(3))}`;
  }
  return path;
}

// lights shows which lines of an algorithm ran, and numbers in them.
function lights(panel, lines, numbers) {
  for (const li of panel.querySelectorAll("[data-line]")) li.classList.toggle("ran", lines.includes(li.dataset.line));
  for (const [name, text] of Object.entries(numbers)) for (const e of panel.querySelectorAll(`[data-n="${name}"]`)) e.textContent = text;
}

// face draws a face after Chernoff, as synthetic.Faces does: number 4m + w has mood m/3 and width w/3.
function face(parent, i, attributes = {}) {
  const mood = Math.floor(i / 4) / 3, width = i % 4 / 3, half = .4 + .5 * width, bend = .33 * (2 * mood - 1), reach = .55 * half;
  const g = svg(parent, "g", {class: "drawn", ...attributes});
  svg(g, "ellipse", {class: "skin", rx: half, ry: .9});
  for (const side of [-1, 1]) svg(g, "circle", {class: "eye", cx: side * .4 * half, cy: -.25, r: .085});
  // The parabola y = .45 − bend(u² − ½), u from −1 to 1.
  svg(g, "path", {d: `M${-reach} ${.45 - bend / 2}Q0 ${.45 + 1.5 * bend} ${reach} ${.45 - bend / 2}`});
  return g;
}

const faceName = i => `${["a sad", "a rather sad", "a rather happy", "a happy"][Math.floor(i / 4)]}, ${["narrow", "rather narrow", "rather wide", "wide"][i % 4]} face`;
