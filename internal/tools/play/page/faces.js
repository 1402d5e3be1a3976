// Lesson 2: a map of faces from comparisons. What is known is `answers`; the next question follows from them.
const faces = (() => {
  const N = 16, ENOUGH = 20, panel = $("faces"), names = ["mood", "width"];
  const seed = 7;
  let answers = [], learned = null, trait = -1, busy = 0, run = 0;
  const marks = {}, at = {map: [], "their-map": []};

  const rule = () => $("ask-rule").value;
  const ask = (who, told, last) => call("faces", {who, answers: told, rule: who === "me" ? rule() : "random", seed, last});
  const known = m => !m.map.includes(null);

  // Places on the page: the map scaled to its frame, and below it the heap of faces that are not in it.
  const heap = i => [-.82 + .11 * i, .86 + .02 * (i % 2), .62];
  function places(m) {
    const size = Math.max(1e-9, ...m.map.flatMap(p => p ? p.map(Math.abs) : []));
    return m.map.map((p, i) => p ? [.8 * p[0] / size, -.72 * p[1] / size - .1, 1] : heap(i));
  }

  function dress(id) {
    $(id).replaceChildren();
    marks[id] = Array.from({length: N}, (_, i) => {
      const g = svg($(id), "g");
      face(g, i);
      svg(g, "title").textContent = faceName(i);
      return g;
    });
    at[id] = Array.from({length: N}, (_, i) => heap(i));
  }

  function move(id, m, ms) {
    const from = at[id], to = places(m), mine = ++busy;
    marks[id].forEach((g, i) => {
      g.firstChild.setAttribute("class", "drawn" + (m.map[i] ? trait < 0 ? "" : " shaded" : " unknown"));
      if (trait >= 0) g.firstChild.style.setProperty("--shade", trait === 0 ? Math.floor(i / 4) / 3 : i % 4 / 3);
    });
    $(id).setAttribute("aria-label", `${id === "map" ? "Your map" : "The map of somebody else"}: ` + m.map.map((p, i) => p ? `${faceName(i)} at ${to[i].slice(0, 2).map(v => v.toFixed(1))}` : "").filter(Boolean).join("; "));
    return glide(ms, t => {
      at[id] = from.map((p, i) => p.map((v, k) => mix(v, to[i][k], t)));
      at[id].forEach(([x, y, s], i) => marks[id][i].setAttribute("transform", `translate(${x.toFixed(4)} ${y.toFixed(4)}) scale(${.1 * s})`));
    }, () => busy !== mine && id === "map");
  }

  function picture(e, i) {
    e.replaceChildren();
    face(e, i);
  }

  function question() {
    const [a, b, c] = learned.next;
    picture($("head"), a);
    $("head").setAttribute("aria-label", faceName(a));
    for (const [id, i] of [["b", b], ["c", c]]) {
      picture($(id).querySelector("svg"), i);
      $(id).setAttribute("aria-label", `more like ${faceName(i)}, key ${id}`);
    }
    $("undo").disabled = answers.length === 0;
  }

  function explain() {
    const t = learned.traits;
    $("looked").hidden = !t || answers.length < ENOUGH;
    if (t) names.forEach((name, k) => {
      $(name).querySelector("b").textContent = t[k].toFixed(2).replace(/-/g, "−");
      $(name).querySelector(".bar span").style.width = `${100 * Math.max(0, t[k])}%`;
      $(name).setAttribute("aria-label", `shade the map by ${name}, R² ${t[k].toFixed(2)}`);
    });
  }

  function progress() {
    const n = answers.length, missing = learned.map.filter(p => !p).length;
    $("progress").textContent = n === 0 ? "no answers yet: all faces are equally far" :
      `${n} answer${n > 1 ? "s" : ""}; ${n - learned.wrong} of them I foresaw` + (missing ? `; ${missing} faces are not in the map yet` : n < ENOUGH ? `; at ${ENOUGH} I guess what you look at` : "");
  }

  function lines() {
    const t = learned.thought, a = answers.at(-1);
    if (!a) return lights(panel, ["start"], {abc: "", dd: "", known: "", updates: ""});
    const d = t[0] - t[1];
    lights(panel, d + 1 > 0 ? ["pair", "distance", "loss", "step", "whole", "repeat"] : ["pair", "distance", "loss", "repeat"],
      {abc: `answer ${answers.length}`, dd: `D = ${number(t[0])} − ${number(t[1])} = ${number(d)}`, known: d + 1 <= 0 ? "yes" : "no", updates: answers.length > 20 ? "" : "from the 21st answer on"});
  }

  // show learns what was answered and moves the map.
  async function show(ms = 700) {
    learned = ask("me", answers, learned?.map ?? []);
    question();
    progress();
    explain();
    lines();
    const other = someone();
    await Promise.all([move("map", learned, ms), other && move("their-map", other, ms)]);
  }

  // someone is what a simulated person's answers to the same questions teach.
  function someone() {
    const looks = $("looks").value, there = looks !== "" && answers.length > 0;
    for (const id of ["their-map", "differences"]) $(id).toggleAttribute("hidden", !there);
    if (!there) return null;
    const theirs = call("other", {looks, questions: answers, seed: 1});
    const m = ask("them", theirs, learned.map);
    const apart = call("differ", {mine: {who: "me", answers, rule: rule(), seed}, theirs: {who: "them", answers: theirs, rule: "random", seed}}).slice(0, 4);
    const same = answers.filter((a, k) => a[1] === theirs[k][1]).length;
    $("differences").replaceChildren();
    const line = text => { const li = document.createElement("li"); li.append(text); $("differences").append(li); return li; };
    line(`The lower map is theirs. You gave the same answer to ${same} of ${answers.length} questions.`).className = "quiet";
    for (const d of apart) {
      const li = line(d.mine < d.theirs ? "you think these two are alike" : "they think these two are alike, you do not");
      for (const i of [d.j, d.i]) { const e = document.createElementNS("http://www.w3.org/2000/svg", "svg"); e.setAttribute("viewBox", "-1 -1 2 2"); face(e, i); svg(e, "title").textContent = faceName(i); li.prepend(e); }
    }
    return m;
  }

  async function answer(second) {
    const [a, b, c] = learned.next, before = learned;
    run++;
    answers.push(second ? [a, c, b] : [a, b, c]);
    const shown = show(), t = learned.thought;
    say(answers.length === ENOUGH && learned.traits ? guess() : !known(before) && known(learned) ? "Every face was asked about: this is a map. Go on, and it settles." :
      learned.wrong === before.wrong ? "I thought so." : Math.abs(t[0] - t[1]) < 1e-9 ? "I did not know. Now I do." : "I thought otherwise, and have moved them.");
    await shown;
  }

  function guess() {
    const [m, w] = learned.traits;
    return Math.abs(m - w) < .1 ? "My guess: you look at <b>mood and width</b> about alike." : `My guess: you look at the <b>${m > w ? "mood" : "width"}</b> more. Press it below to shade the map.`;
  }

  function say(html) { $("ask").innerHTML = `${html} Is this face more like the first or the second?`; }

  async function fill() {
    const looks = $("looks").value || "both", mine = ++run;
    for (let k = 0; k < 16 && run === mine; k++) {
      const [a] = call("other", {looks, questions: [learned.next], seed: answers.length + 1});
      answers.push(a);
      await show(160);
    }
    if (run === mine) say(`A simulated person who looks at ${looks === "both" ? "mood and width" : `the ${looks}`} gave 16 answers.`);
  }

  // The answers as a link: the rule, and for each question whether b or c was said.
  const letters = () => answers.map(a => a[1] < a[2] ? "b" : "c").join("");
  async function copy() {
    const url = `${location.href.split("#")[0]}#r=${rule()}&a=${letters()}`;
    history.replaceState(null, "", url);
    try { await navigator.clipboard.writeText(url); say("The link is copied. Whoever opens it sees your map."); } catch { say("The link stands in the address bar."); }
  }

  function restore() {
    const p = new URLSearchParams(location.hash.slice(1)), a = p.get("a") ?? "";
    if (!/^[bc]{1,500}$/.test(a)) return false;
    if ([...$("ask-rule").options].some(o => o.value === p.get("r"))) $("ask-rule").value = p.get("r");
    answers = [];
    for (const letter of a) {
      const [head, b, c] = ask("me", answers, []).next;
      answers.push(letter === "b" ? [head, b, c] : [head, c, b]);
    }
    return true;
  }

  // race runs person after person, so that the lines move while they are measured.
  async function race() {
    const rules = ["random", "uncertainty", "information-gain"], track = $("track"), persons = 20, w = 440, h = 190;
    $("race").disabled = true;
    track.removeAttribute("hidden");
    for (let person = 1; person <= persons; person++) {
      const curves = [];
      for (const rule of rules) { curves.push(call("race", {rule, persons: person})); await new Promise(done => setTimeout(done)); }
      const x = k => 46 + w * k / 12, y = e => 16 + h * (1 - e / .5);
      track.replaceChildren();
      for (const e of [0, .1, .2, .3, .4, .5]) {
        svg(track, "line", {class: "grid", x1: 46, x2: 46 + w, y1: y(e), y2: y(e)});
        svg(track, "text", {x: 40, y: y(e) + 4, "text-anchor": "end"}).textContent = percent(e);
      }
      for (const k of [0, 4, 8, 12]) svg(track, "text", {x: x(k), y: 224, "text-anchor": "middle"}).textContent = k === 12 ? "96 answers" : 8 * k;
      const ends = curves.map((c, k) => ({k, at: y(c.at(-1))})).sort((a, b) => a.at - b.at);
      ends.forEach((e, i) => { if (i > 0) e.at = Math.max(e.at, ends[i - 1].at + 16); });
      curves.forEach((c, k) => svg(track, "path", {class: rules[k], d: "M" + [.5, ...c].map((e, i) => `${x(i)} ${y(e)}`).join("L")}));
      for (const {k, at} of ends) svg(track, "text", {class: rules[k], x: x(12) + 8, y: at + 4}).textContent = rules[k] === "random" ? "chance" : rules[k].replace("-", " ");
      const text = `wrong on other questions after 96 answers of ${person} person${person > 1 ? "s" : ""}: ` + rules.map((r, k) => `${r === "random" ? "chance" : r.replace("-", " ")} ${(100 * curves[k].at(-1)).toFixed(1)} %`).join(", ");
      $("race-says").textContent = text;
      track.setAttribute("aria-label", text);
    }
    $("race").disabled = false;
  }

  function shadeBy(k) {
    trait = trait === k ? -1 : k;
    names.forEach((name, i) => $(name).setAttribute("aria-pressed", trait === i));
    return show(0);
  }

  $("b").onclick = () => answer(false);
  $("c").onclick = () => answer(true);
  $("undo").onclick = () => { run++; if (answers.pop()) { say("Taken back."); return show(); } };
  $("fresh").onclick = () => { run++; answers = []; trait = -1; learned = null; say("Sixteen faces."); return show(); };
  $("fill").onclick = fill;
  $("link").onclick = copy;
  $("race").onclick = race;
  $("mood").onclick = () => shadeBy(0);
  $("width").onclick = () => shadeBy(1);
  $("looks").onchange = () => show();
  $("ask-rule").onchange = () => show();

  function begin() {
    dress("map");
    dress("their-map");
    const shared = restore();
    say(shared ? `The map of ${answers.length} answers, from a link.` : "Sixteen faces.");
    return show(0);
  }
  const keys = {b: () => answer(false), c: () => answer(true), u: () => $("undo").click(), ArrowLeft: () => answer(false), ArrowRight: () => answer(true)};
  return {begin, restore, keys, state: () => ({answers, map: learned.map, traits: learned.traits, wrong: learned.wrong, at: at.map})};
})();
