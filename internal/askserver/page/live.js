"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const put = (id, text) => { if ($(id).textContent !== text) { $(id).textContent = text; } }; // else it is read aloud every two seconds
  const say = (text) => { put("say", text); $("say").hidden = !text; };
  const percent = (x) => (100 * x).toFixed(1) + " %";
  const range = (s) => percent(s.of) + " (95 %: " + (100 * s.least).toFixed(1) + " to " + percent(s.most) + ")";

  function svg(name, attributes, text) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [k, v] of Object.entries(attributes)) { e.setAttribute(k, v); }
    if (text !== undefined) { e.textContent = text; }
    return e;
  }

  function numbers(of) {
    $("numbers").replaceChildren(...of.map(([what, value]) => {
      const row = document.createElement("div"), dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = what;
      dd.textContent = value;
      row.append(dt, dd);
      return row;
    }));
  }

  const marks = new Map(); // by item, so that they move
  function map(s) {
    const root = $("map"), side = Math.max(34, Math.min(130, 900 / Math.sqrt(s.map.length || 1) * 0.62)), room = side / 2 + 12;
    if (!root.firstChild) { root.append(svg("rect", { class: "frame", x: 1, y: 1, width: 998, height: 998, rx: 18 })); }
    const seen = new Set();
    for (const m of s.map) {
      seen.add(m.item);
      let g = marks.get(m.item);
      if (!g) {
        g = svg("g", {});
        if (s.pictures) {
          g.append(svg("image", { href: "/item/" + m.item, preserveAspectRatio: "xMidYMid meet" }));
        } else {
          g.append(svg("circle", { r: 7 }), svg("text", { x: 12, y: 8 }, m.text.length > 24 ? m.text.slice(0, 23) + "…" : m.text));
        }
        g.append(svg("title", {}, m.text));
        marks.set(m.item, g);
        root.append(g);
      }
      const image = g.querySelector("image");
      if (image) {
        for (const [k, v] of [["x", -side / 2], ["y", -side / 2], ["width", side], ["height", side]]) { image.setAttribute(k, v); }
      }
      const wide = s.pictures ? 1000 - 2 * room : 1000 - 2 * room - 160;
      g.style.transform = "translate(" + (room + m.x * wide) + "px," + (1000 - room - m.y * (1000 - 2 * room)) + "px)";
    }
    for (const [item, g] of marks) {
      if (!seen.has(item)) { g.remove(); marks.delete(item); }
    }
    const left = s.mapped > s.map.length ? " Of " + s.mapped + " items " + s.map.length + " are drawn." : "";
    $("maptext").textContent = (s.map.length ? "What is alike lies close; axes and rotation mean nothing. After " + s.of + " answers." : "There is no map yet.") +
      (s.unasked ? " Not asked about yet: " + s.unasked + " of " + s.items + " items." : "") + left;
  }

  function curve(s) {
    const root = $("curve"), w = 600, h = 260, left = 48, right = 588, top = 14, bottom = 222;
    root.replaceChildren();
    const most = Math.min(1, Math.max(s.chance + 0.05, ...s.curve.map((p) => p.most))), last = s.curve.length ? s.curve[s.curve.length - 1].answers : 1;
    const x = (a) => left + (right - left) * a / Math.max(1, last), y = (v) => bottom - (bottom - top) * v / most;
    for (let v = 0; v <= most + 1e-9; v += 0.1) {
      root.append(svg("line", { class: "axis", x1: left, x2: right, y1: y(v), y2: y(v) }), svg("text", { x: left - 8, y: y(v) + 5, "text-anchor": "end" }, Math.round(100 * v) + " %"));
    }
    root.append(svg("line", { class: "chance", x1: left, x2: right, y1: y(s.chance), y2: y(s.chance) }), svg("text", { class: "of-chance", x: right, y: y(s.chance) - 6, "text-anchor": "end" }, "guessing"));
    root.append(svg("text", { x: left, y: h - 18 }, "0"), svg("text", { x: right, y: h - 18, "text-anchor": "end" }, last + " answers"));
    if (!s.curve.length) { return; }
    const at = (p, v) => x(p.answers).toFixed(1) + "," + y(v).toFixed(1);
    root.append(svg("polygon", { class: "band", points: [...s.curve.map((p) => at(p, p.most)), ...s.curve.map((p) => at(p, p.least)).reverse()].join(" ") }));
    root.append(svg("polyline", { class: "line", points: s.curve.map((p) => at(p, p.of)).join(" ") }));
  }

  function words(s) {
    put("verdict", s.wrong.n
      ? "Of " + s.wrong.n + " held-out answers to random questions the map predicts " + range(s.wrong) + " wrongly; guessing " + percent(s.chance) + "."
      : "Too few answers to random questions yet.");
    $("stop").className = s.enough ? "enough" : "";
    put("stop", !s.gain.n ? "" : s.enough
      ? "Enough: the last " + s.last + " answers lowered the error by less than " + (100 * Math.max(0, s.gain.most)).toFixed(1) + " percentage points."
      : "The last " + s.last + " answers lowered the error by " + (100 * s.gain.of).toFixed(1) + " percentage points (95 %: " + (100 * s.gain.least).toFixed(1) + " to " + (100 * s.gain.most).toFixed(1) + "). More may pay.");
    $("agree").textContent = s.agreement.n ? "Asked the same again, people answered the same in " + range(s.agreement) + " of " + s.agreement.n + " answers." : "";
    $("choosing").textContent = s.choose === "random" ? "All questions are random, but for those asked again."
      : "Questions are chosen by " + s.choose + ", " + Math.round(100 * s.random) + " % are random. Random is as good: on people's answers choosing was nowhere seen to pay. With --simulate you can try it on yours.";
  }

  function people(s) {
    $("people").replaceChildren(...s.people.map((p) => {
      const row = document.createElement("tr"), cell = (text) => { const td = document.createElement("td"); td.textContent = text; return td; };
      const count = cell(""), meter = document.createElement("meter");
      meter.max = s.people[0].answers;
      meter.value = p.answers;
      meter.setAttribute("aria-hidden", "true");
      count.append(meter, String(p.answers));
      row.append(cell(p.name), count, cell(p.again), cell(p.again ? Math.round(100 * p.agreed / p.again) + " %" : ""));
      return row;
    }));
  }

  async function poll() {
    try {
      const r = await fetch("/live/state"), s = await r.json();
      if (r.status === 403) { return say("The program was started again, or another one: open the address that it printed."); }
      if (!r.ok) { throw new Error(s.error); }
      say("");
      numbers([["answers", s.answers], [s.everybody === 1 ? "person" : "people", s.everybody], ["here now", s.here], ["items", s.items]]);
      map(s);
      curve(s);
      words(s);
      people(s);
    } catch {
      say("No connection to the program. It is tried again.");
    }
    setTimeout(poll, document.hidden ? 10000 : 2000);
  }
  poll();
})();
