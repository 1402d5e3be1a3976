// Lesson 1: a metric from pairs. What is known is `told`; everything that is shown is what the learner says of it.
const metric = (() => {
  const HALF = 2.2, GRID = 67, DEMO = 40, ring = $("cloud"), panel = $("metric");
  let points = [], stream = [], classes = [];
  let told = []; // {p: [x₁, x₂, x′₁, x′₂, y], from: number in the stream or −1}
  let set = "clouds", lifted = false, straight = 0, next = 0, run = 0;
  let hand = []; // dots taken
  let anchor = 0, focus = 0, learned = null, places = null, scale = 1;
  const parts = {}, dots = [];

  // middle is the dot of a class that is nearest to the mean of its class, or to the mean of its ring's right half.
  function middle(of) {
    const mine = points.flatMap((p, i) => classes[i] === of && (set === "clouds" || p[0] > 0) ? [i] : []), mean = [0, 1].map(k => mine.reduce((s, i) => s + points[i][k], 0) / mine.length);
    return mine.reduce((a, b) => Math.hypot(...points[a].map((v, k) => v - mean[k])) <= Math.hypot(...points[b].map((v, k) => v - mean[k])) ? a : b);
  }

  const rule = () => lifted ? {name: "kernel-pola", gamma: gamma(), c: 0} : {name: $("rule").value, gamma: $("rule").value === "pola" ? gamma() : 0, c: isPA() ? c() : 0};
  const isPA = () => !lifted && ["pa1", "pa2"].includes($("rule").value);
  const gamma = () => { const k = +$("soft-range").value; return k === 0 ? 0 : +(.1 * 1.4 ** k).toPrecision(2); };
  const c = () => +(10 * .6 ** +$("soft-range").value).toPrecision(2);

  // learn asks what is known after the pairs that were told.
  function learn(pairs = told) {
    learned = call("pairs", {rule: rule(), pairs: pairs.map(t => t.p), places: points, around: points[anchor], grid: lifted ? GRID : 0, half: HALF});
    places = learned.places;
    scale = Math.min(1e6, 1.7 / Math.max(1e-9, ...places.map(p => Math.hypot(...p))));
    return learned;
  }

  const last = () => learned.rounds.at(-1);
  const hypothesis = () => last()?.after ?? {a: [0, 0, 0], b: startB()};
  const startB = () => lifted || $("rule").value === "pola" ? 1 : 0;

  // where a dot is drawn: at x, at s·Lx, or on its way.
  const where = i => [0, 1].map(k => mix(points[i][k], scale * places[i][k], straight));

  // field holds d² − b on the grid around a dot.
  function field(h) {
    const [x, y] = points[anchor], f = new Float64Array(GRID * GRID);
    for (let i = 0; i < GRID; i++) for (let j = 0; j < GRID; j++) {
      const u = HALF * (2 * j / (GRID - 1) - 1) - x, v = HALF * (2 * i / (GRID - 1) - 1) - y;
      f[i * GRID + j] = h.a[0] * u * u + 2 * h.a[1] * u * v + h.a[2] * v * v - h.b;
    }
    return f;
  }
  const current = () => lifted ? Float64Array.from(learned.field, d => d - (last()?.bAfter ?? 1)) : field(hypothesis());

  // shade fills the canvas: the surer that a place is alike, the deeper.
  function shade(f, strength = 1) {
    const n = $("glow").width, context = $("glow").getContext("2d"), image = context.createImageData(n, n);
    const colour = getComputedStyle(document.body).getPropertyValue("--glow").trim().split(" ").map(Number);
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
      const x = j / (n - 1) * (GRID - 1), y = (n - 1 - i) / (n - 1) * (GRID - 1), j0 = Math.min(GRID - 2, Math.floor(x)), i0 = Math.min(GRID - 2, Math.floor(y));
      const low = mix(f[i0 * GRID + j0], f[i0 * GRID + j0 + 1], x - j0), high = mix(f[(i0 + 1) * GRID + j0], f[(i0 + 1) * GRID + j0 + 1], x - j0);
      const sure = Math.min(1, Math.max(0, (1 - mix(low, high, y - i0)) / 2)); // 1 at d² = b − 1, 0 at b + 1
      image.data.set([...colour, 72 * strength * sure * sure * (3 - 2 * sure)], 4 * (i * n + j));
    }
    context.putImageData(image, 0, 0);
  }

  // curve draws the boundary of a field. Straight, it is a circle of radius √b around the dot.
  function curve(f, was = null) {
    const fade = Math.max(0, 1 - 2 * straight);
    parts.level.setAttribute("d", contour(f, GRID, HALF));
    parts.level.style.opacity = fade;
    parts.was.setAttribute("d", was ? contour(was, GRID, HALF) : "");
    shade(f, fade);
    const [x, y] = where(anchor);
    const set = {cx: x, cy: -y, r: Math.min(10, scale * learned.radius)};
    for (const [k, v] of Object.entries(set)) parts.circle.setAttribute(k, v);
    parts.circle.style.opacity = Math.max(0, 2 * straight - 1);
  }

  function place() {
    dots.forEach((e, i) => {
      const [x, y] = where(i);
      e.setAttribute("transform", `translate(${x.toFixed(4)} ${(-y).toFixed(4)})`);
      e.classList.toggle("taken", hand.includes(i) || i === anchor);
      e.classList.toggle("focus", document.activeElement === ring && focus === i);
    });
  }

  // band joins two dots; the colour is what the machine thinks.
  function band(i, to, alike) {
    const [x, y] = where(i), [u, v] = typeof to === "number" ? where(to) : to;
    for (const [k, w] of Object.entries({x1: x, y1: -y, x2: u, y2: -v})) parts.band.setAttribute(k, w);
    parts.band.setAttribute("class", "band " + (alike === undefined ? "" : alike ? "alike" : "different"));
    parts.band.style.opacity = 1;
  }
  const noBand = () => { parts.band.style.opacity = 0; };

  // think asks what the machine says of two dots, which teaches it nothing.
  const think = (i, j) => call("pairs", {rule: rule(), pairs: told.map(t => t.p), asked: [...points[i], ...points[j]]}).asked;

  function figures() {
    const h = hypothesis(), r = last();
    const texts = lifted ? {a11: "·", a12: "·", a21: "·", a22: "·", b: number(r?.bAfter ?? 1)} :
      {a11: number(h.a[0]), a12: number(h.a[1]), a21: number(h.a[1]), a22: number(h.a[2]), b: number(h.b)};
    lights(panel, [], texts);
    $("matrix").setAttribute("aria-label", lifted ? "A is a matrix of the lifted space" : `A has the rows ${texts.a11}, ${texts.a12} and ${texts.a21}, ${texts.a22}`);
    const n = learned.rounds.length, shown = learned.rounds.slice(-64);
    $("record").replaceChildren();
    shown.forEach((q, k) => svg($("record"), "rect", {class: q.wrong ? "mistake" : q.loss > 0 ? "right" : "", x: 5 * k, width: 3.6, y: q.loss > 0 ? 50 - Math.min(46, 14 * q.loss) : 48, height: q.loss > 0 ? 4 + Math.min(46, 14 * q.loss) : 6}));
    const text = n === 0 ? "no pairs yet" : `wrong on ${r.wrongs} of ${n} pairs` + (n > 20 ? `, on ${r.recent} of the last 20` : "") + "; a bar is a loss";
    $("count").textContent = text;
    $("record").setAttribute("aria-label", text);
    theorem();
    $("straighten").textContent = straight > .5 ? "back: Lx → x" : "straighten: x → Lx";
    $("straighten").disabled = !learned.rounds.some(q => q.step !== 0);
  }

  function theorem() {
    const b = learned.bound;
    $("theorem").hidden = learned.rounds.length === 0;
    $("losses").style.width = b ? `${100 * Math.min(1, b.losses / Math.max(1e-300, b.bound))}%` : "0";
    const losses = learned.rounds.reduce((s, r) => s + r.loss * r.loss, 0);
    $("bound").textContent = b ? `Σℓ² = ${number(b.losses)} ≤ ${number(b.bound)}: the theorem’s bound, with R = ${number(b.r)}, b* = ${number(b.star.b)}` :
      `Σℓ² = ${number(losses)}. ` + (lifted ? "The theorem holds in the lifted space." : $("rule").value !== "pola" ? "The bound is POLA’s." : gamma() > 0 ? "The bound is for γ = 0." : "No metric of those tried is right about all pairs: the theorem promises nothing.");
  }

  function show() { place(); curve(current()); figures(); }

  function numbers(r) {
    return {y: `y = ${r.y > 0 ? "1" : "−1"}`, d2: `d² = ${number(r.sqDist)}, ‖v‖² = ${number(r.norm2)}`, guess: `${number(r.sqDist)} ${r.alike ? "≤" : ">"} ${number(r.b)}: ${r.alike ? "alike" : "different"}` + (r.wrong ? ", wrong" : ""),
      loss: `ℓ = ${number(r.loss)}`, alpha: r.step === 0 ? "nothing to learn" : `α = ${number(Math.abs(r.step))}`, bhalf: r.step === 0 ? "" : `b = ${number(r.b + r.step)}`,
      lambda: r.step === 0 ? "" : (r.lambda < 0 ? `eigenvalue ${number(r.lambda)}, ` : "") + `b = ${number(r.bAfter)}`};
  }

  // step teaches a pair, in two beats or, quickly, in one.
  async function step(i, j, label, from, quick, mine) {
    const before = lifted ? current() : field(hypothesis()), old = hypothesis(), stop = () => run !== mine;
    told.push({p: [...points[i], ...points[j], label], from});
    if (!quick) anchor = i;
    learn();
    const r = {...last(), y: label};
    band(i, j, r.alike);
    place();
    lights(panel, r.loss > 0 || r.step !== 0 ? ["pair", "distance", "guess", "loss", "step"] : ["pair", "distance", "guess", "loss"], numbers(r));
    if (r.wrong && !quick) { ring.classList.remove("shake"); void ring.getBoundingClientRect(); ring.classList.add("shake"); }
    if (lifted) {
      const after = current();
      await glide(quick ? 60 : 600, t => curve(after.map((v, k) => mix(before[k] ?? v, v, t))), stop);
    } else if (r.step !== 0) {
      const beat = (a, b, ms, was) => glide(ms, t => curve(field({a: a.a.map((v, k) => mix(v, b.a[k], t)), b: mix(a.b, b.b, t)}), was), stop);
      if (quick) await beat(old, r.after, 90);
      else {
        const was = field(old);
        await pause(250);
        lights(panel, ["half"], {});
        await beat(old, r.half, 650, was);
        if (!stop()) await pause(450);
        lights(panel, ["whole"], {});
        await beat(r.half, r.after, 650, was);
        if (!stop()) await pause(350);
      }
    } else if (quick) await pause(60);
    if (!stop()) { noBand(); show(); }
    return r;
  }

  // draw takes pairs from the stream, like somebody who knows the clouds.
  async function draw(count, quick) {
    const mine = ++run;
    release();
    for (let k = 0; k < count && run === mine; k++) {
      if (next >= stream.length) fetchData();
      const [i, j, y] = stream[next++];
      await step(i, j, y, next - 1, quick, mine);
      document.body.dataset.first ??= Math.round(performance.now());
      if (quick && !still) await pause(35);
    }
    return run === mine;
  }

  function fetchData() {
    const d = call("data", {set, angle: set === "clouds" ? +$("turn").value : 0, wrong: +$("wrong").value / 100, pairs: Math.max(400, next + 100)});
    ({points, class: classes, pairs: stream} = d);
  }

  function say(html) { $("say").innerHTML = html; }

  function release() {
    hand = [];
    noBand();
    $("alike").disabled = $("different").disabled = true;
  }

  function ask() {
    const [i, j] = hand;
    anchor = i;
    learn();
    show();
    const r = think(i, j), gap = Math.abs(r.sqDist - r.b);
    band(i, j, r.alike);
    say(`I think they are <b class="${r.alike ? "alike" : "different"}">${r.alike ? "alike" : "different"}</b>${gap >= 1 ? "" : gap > .3 ? ", but am not sure" : ", and am quite unsure"}: d² is ${number(r.sqDist)}, b is ${number(r.b)}. What do you say?`);
    $("alike").disabled = $("different").disabled = false;
  }

  async function answer(alike) {
    if (hand.length !== 2) return;
    const [i, j] = hand, mine = ++run;
    release();
    straight = 0;
    const r = await step(i, j, alike ? 1 : -1, -1, false, mine);
    if (run !== mine) return;
    say(r.wrong ? "I was wrong. Now I am right about it, or nearer to it." : r.loss > 0 ? "I was right, but not by the margin of 1, so I learned." : r.step === 0 ? "I knew, by the margin. Nothing to learn." : "I was right.");
    if (set === "rings" && !lifted && last().wrongs >= 3) offerLift();
  }

  function offerLift() {
    $("lift").hidden = false;
    $("lift").classList.add("call");
    say("Rings. However I turn and stretch, I stay wrong: inside an ellipse around one dot of the outer ring lies the inner one. <b>Lift</b> me.");
  }

  function take(i) {
    if (hand.length === 2) release();
    if (hand[0] === i) return;
    run++;
    hand.push(i);
    place();
    if (hand.length === 2) ask();
    else { anchor = i; learn(); show(); say("And another dot."); }
  }

  // relearn is the same pairs with another learner, or other labels from the stream.
  function relearn() {
    run++;
    release();
    fetchData();
    for (const t of told) if (t.from >= 0) t.p[4] = stream[t.from][2];
    controls();
    learn();
    show();
  }

  function controls() {
    const name = $("rule").value;
    $("rule").disabled = lifted;
    $("soft").hidden = name === "pa" && !lifted;
    $("soft-name").textContent = isPA() ? "C, less where answers may be wrong" : "γ, for answers that may be wrong";
    $("soft-value").textContent = number(isPA() ? c() : gamma());
    $("turn-value").textContent = `${$("turn").value}°`;
    $("wrong-value").textContent = `${$("wrong").value} %`;
    $("turn").parentElement.hidden = set !== "clouds";
    $("rings").textContent = set === "rings" ? "clouds" : "rings";
    $("b1").textContent = startB();
    $("rate").textContent = lifted || name === "pola" ? "ℓ / (‖v‖⁴ + 1 + γ)" : name === "pa" ? "ℓ / (‖v‖⁴ + 1)" : name === "pa1" ? "min(C, ℓ / (‖v‖⁴ + 1))" : "ℓ / (‖v‖⁴ + 1 + 1/(2C))";
  }

  function dress() {
    ring.replaceChildren();
    svg(ring, "line", {class: "axis", x1: -HALF, x2: HALF, y1: 0, y2: 0});
    svg(ring, "line", {class: "axis", y1: -HALF, y2: HALF, x1: 0, x2: 0});
    parts.was = svg(ring, "path", {class: "level was"});
    parts.level = svg(ring, "path", {class: "level"});
    parts.circle = svg(ring, "circle", {class: "level"});
    parts.band = svg(ring, "line", {class: "band"});
    dots.length = 0;
    points.forEach((_, i) => dots.push(svg(ring, "path", {class: `dot ${classes[i] ? "two" : "one"}`, d: classes[i] ? "M0-.075L.07.055L-.07.055Z" : "M-.06 0A.06.06 0 1 1 .06 0A.06.06 0 1 1-.06 0"})));
  }

  async function begin(what) {
    run++;
    Object.assign(hand, []);
    [set, lifted, straight, next, told] = [what, false, 0, 0, []];
    $("lift").hidden = true;
    fetchData();
    anchor = middle(1);
    dress();
    controls();
    release();
    learn();
    show();
    lights(panel, ["start"], {y: "", d2: "", guess: "", loss: "", alpha: "", bhalf: "", lambda: ""});
    const first = what === "clouds" ? "Two clouds of dots. Shown two dots, I say whether they are of one cloud. I am told the truth, and learn." : "Two rings, one in the other.";
    say(first);
    if (!await draw(DEMO, true)) return;
    const r = last(), early = learned.rounds[19].wrongs;
    if (what === "clouds") say(`I was wrong on ${early} of the first 20 pairs, and on ${r.recent} of the last 20. Now you: <b>drag from one dot to another.</b>`);
    else offerLift();
  }

  async function straighten() {
    const mine = ++run, from = straight, to = straight > .5 ? 0 : 1;
    release();
    learn();
    const f = current();
    await glide(1100, t => { straight = mix(from, to, t); place(); curve(f); }, () => run !== mine);
    straight = to;
    show();
    say(to === 0 ? "Back in the plane." : lifted ? "The plane in which my distances are kept best. What I call alike lies together." : "Each dot x has glided to Lx. The curve is a circle again: there, alike is near.");
  }

  async function lift() {
    lifted = true;
    straight = 0;
    $("lift").hidden = true;
    $("rule").value = "pola";
    $("soft-range").value = 0;
    relearn();
    const before = last().wrongs, same = told.length;
    if (await draw(20, true)) {
      anchor = middle(1);
      learn();
      show();
      say(`In the lifted space I was wrong on ${before} of the same ${same} pairs, and on ${last().recent} of 20 more. The curve can bend now. <b>Straighten</b> shows my distances.`);
    }
  }

  // nearest finds the dot below a pointer, within reach.
  function nearest(e, reach) {
    const box = ring.getBoundingClientRect(), x = HALF * (2 * (e.clientX - box.left) / box.width - 1), y = -HALF * (2 * (e.clientY - box.top) / box.height - 1);
    let best = -1, least = reach;
    points.forEach((_, i) => { const [u, v] = where(i), d = Math.hypot(u - x, v - y); if (d < least) [best, least] = [i, d]; });
    return {i: best, at: [x, y]};
  }

  let dragging = false;
  const reach = e => e.pointerType === "mouse" ? .16 : .3;
  ring.addEventListener("pointerdown", e => {
    const {i} = nearest(e, reach(e));
    if (i < 0) { run++; release(); show(); return; }
    e.preventDefault();
    ring.focus({preventScroll: true, focusVisible: false});
    ring.setPointerCapture(e.pointerId);
    if (hand.length !== 1 || hand[0] !== i) { if (hand.length === 1) { take(i); return; } take(i); }
    focus = i;
    dragging = true;
  });
  ring.addEventListener("pointermove", e => {
    if (!dragging || hand.length !== 1) return;
    const {i, at} = nearest(e, reach(e));
    if (i >= 0 && i !== hand[0]) band(hand[0], i, think(hand[0], i).alike); else band(hand[0], at);
  });
  ring.addEventListener("pointerup", e => {
    if (dragging && hand.length === 1) {
      const {i} = nearest(e, reach(e));
      if (i >= 0 && i !== hand[0]) take(i); else noBand();
    }
    dragging = false;
  });
  ring.addEventListener("pointercancel", () => { dragging = false; release(); });
  ring.addEventListener("focus", place);
  ring.addEventListener("blur", place);
  ring.addEventListener("keydown", e => {
    const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[e.key];
    if (way) {
      const [x, y] = where(focus);
      let best = focus, least = Infinity;
      points.forEach((_, i) => {
        const [u, v] = where(i), along = (u - x) * way[0] + (v - y) * way[1], across = Math.abs((u - x) * way[1] - (v - y) * way[0]);
        if (along > 1e-9 && along + 2 * across < least) [best, least] = [i, along + 2 * across];
      });
      focus = best;
      place();
      if (hand.length === 1 && focus !== hand[0]) band(hand[0], focus, think(hand[0], focus).alike);
    } else if (e.key === "Enter" || e.key === " ") take(focus);
    else if (e.key === "Escape") { run++; release(); show(); }
    else return;
    e.preventDefault();
  });

  $("alike").onclick = () => answer(true);
  $("different").onclick = () => answer(false);
  $("more").onclick = () => { straight = 0; return draw(10, true); };
  $("straighten").onclick = straighten;
  $("rings").onclick = () => begin(set === "rings" ? "clouds" : "rings");
  $("lift").onclick = lift;
  $("again").onclick = () => begin(set);
  $("turn").oninput = () => {
    run++;
    release();
    fetchData();
    controls();
    learn();
    show();
    say("The clouds have turned, and I have not: I forget nothing, and must unlearn. <b>Ten pairs more.</b>");
  };
  $("wrong").oninput = () => { relearn(); say(`The same ${told.length} pairs, of which my teacher labels ${$("wrong").value} % wrongly: I am wrong on ${last()?.wrongs ?? 0}. A larger γ, or PA-I or PA-II with a smaller C, takes shorter steps.`); };
  $("soft-range").oninput = () => { relearn(); say(`Learned again: wrong on ${last()?.wrongs ?? 0} of ${told.length} pairs.`); };
  $("rule").onchange = () => { $("soft-range").value = 0; relearn(); say(`Learned again by ${$("rule").selectedOptions[0].textContent}: wrong on ${last()?.wrongs ?? 0} of ${told.length} pairs.`); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => learned && show());

  const keys = {s: () => answer(true), d: () => answer(false), n: () => $("more").click()};
  return {begin: () => begin("clouds"), keys, state: () => ({told: told.length, wrongs: last()?.wrongs ?? 0, recent: last()?.recent ?? 0, b: last()?.bAfter, hand: hand.length, straight, lifted, set, where: points.map((_, i) => where(i))})};
})();
