"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const kind = document.body.dataset.kind, pictures = document.body.dataset.pictures === "true";
  let question = null, shownAt = 0, ready = false, answers = 0;

  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const say = (text) => {
    if ($("say").textContent !== text) { $("say").textContent = text; } // else it is read aloud again
    $("say").hidden = !text;
  };

  // send asks the server until it answers. An answer that is sent twice counts once.
  async function send(path, body) {
    for (let wait = 500; ; wait = Math.min(2 * wait, 8000)) {
      try {
        const r = await fetch(path, body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
        const data = await r.json();
        if (r.status !== 503 && !(r.status === 429 && path !== "/join")) {
          say(r.ok || r.status === 401 ? "" : data.error);
          return { status: r.status, data };
        }
        say(data.error);
      } catch {
        say("No connection. It is tried again.");
      }
      await pause(wait);
    }
  }

  function element(name, className, text) {
    const e = document.createElement(name);
    e.className = className || "";
    if (text) { e.textContent = text; }
    return e;
  }

  // face is a picture or a text; its promise ends once it can be seen.
  function face(of, seen) {
    if (!pictures) {
      const e = element("span", "text", of.text);
      e.dir = "auto";
      return e;
    }
    const image = document.createElement("img");
    image.alt = of.text;
    image.src = "/item/" + of.item;
    seen.push(image.decode());
    return image;
  }

  function choice(said, key, label, inside) {
    const b = element("button", "choice");
    b.type = "button";
    b.disabled = true;
    b.dataset.said = said;
    if (inside) { b.append(inside); }
    const text = element("span", "label", label);
    text.append(element("kbd", "", key));
    b.append(text);
    b.addEventListener("click", () => answer(said));
    return b;
  }

  async function show(q) {
    question = q;
    ready = false;
    const seen = [], above = $("above"), choices = $("choices");
    const figure = (of) => { const f = element("figure"); f.append(face(of, seen)); return f; };
    above.replaceChildren();
    choices.replaceChildren();
    $("ask").classList.add("wait");
    if (kind === "odd") {
      choices.append(...q.items.map((of, i) => choice(i, String(i + 1), "", face(of, seen))));
    } else if (kind === "alike") {
      above.className = "alike-pair";
      above.append(...q.items.map(figure));
      choices.append(choice(1, "←", "alike"), choice(0, "→", "not alike"));
    } else {
      above.append(figure(q.items[0]));
      choices.append(choice(1, "←", "left", face(q.items[1], seen)), choice(2, "→", "right", face(q.items[2], seen)));
    }
    $("join").hidden = true;
    $("ask").hidden = false;
    $("prompt").focus({ preventScroll: true }); // the button that was pressed is gone: Tab goes on here, and the question is read aloud
    $("count").textContent = (q.name.startsWith("p-") ? "" : q.name + ": ") + (answers === 1 ? "1 answer" : answers + " answers");
    try {
      await Promise.all(seen);
    } catch {
      say("A picture cannot be shown. Here is another question.");
      await pause(1000);
      return next();
    }
    $("ask").classList.remove("wait");
    choices.querySelectorAll("button").forEach((b) => { b.disabled = false; });
    shownAt = performance.now();
    ready = true;
  }

  async function next() {
    const { status, data } = await send("/question");
    return status === 200 ? show(data) : enter();
  }

  function enter() {
    $("ask").hidden = true;
    $("join").hidden = false;
    ($("code") || $("name")).focus();
  }

  async function answer(said) {
    if (!ready) { return; }
    ready = false;
    const ms = Math.round(performance.now() - shownAt);
    $("choices").querySelectorAll("button").forEach((b) => {
      b.disabled = true;
      b.classList.toggle("taken", Number(b.dataset.said) === said);
    });
    const { status, data } = await send("/answer", { id: question.id, said, ms });
    if (status === 200) {
      answers++;
      return show(data);
    }
    return next();
  }

  const keys = kind === "odd" ? { 1: 0, 2: 1, 3: 2 } : kind === "alike" ? { ArrowLeft: 1, 1: 1, ArrowRight: 0, 2: 0 } : { ArrowLeft: 1, 1: 1, ArrowRight: 2, 2: 2 };
  document.addEventListener("keydown", (e) => {
    if (e.repeat || e.ctrlKey || e.metaKey || e.altKey || $("ask").hidden || !(e.key in keys)) { return; }
    e.preventDefault();
    answer(keys[e.key]);
  });

  $("join").addEventListener("submit", async (e) => {
    e.preventDefault();
    const { status } = await send("/join", { name: $("name").value, code: $("code") ? $("code").value : "" });
    if (status === 200) { next(); }
  });
  if (document.body.dataset.joined === "true") { next(); } else { enter(); }
})();
