(function () {
  "use strict";
  var root = document.documentElement, $ = function (id) { return document.getElementById(id); };
  root.classList.add("js");
  var verdict = $("f-verdict"), paper = $("f-paper"), whose = $("f-whose"), exp = $("f-exp"), text = $("f-text"), count = $("f-count");
  var papers = Array.from(document.querySelectorAll(".paper")), words = new Map();
  // What can be searched of an element, taken from it once.
  function wordsOf(e) {
    if (!words.has(e)) { words.set(e, e.textContent.toLowerCase()); }
    return words.get(e);
  }
  function filter() {
    var v = verdict.value, p = paper.value, o = whose.value, x = exp.value, wanted = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    var has = function (s) { return wanted.every(function (w) { return s.indexOf(w) >= 0; }); };
    var shown = 0, all = 0, sections = 0;
    papers.forEach(function (section) {
      var some = false;
      section.querySelectorAll(".exp").forEach(function (e) {
        var here = (!p || e.dataset.paper === p) && (!x || e.dataset.exp === x), any = false;
        var whole = wanted.length > 0 && has(wordsOf(e.querySelector(".head")));
        e.querySelectorAll(".claim").forEach(function (c) {
          var ok = here && (!v || c.dataset.verdict === v) && (!o || c.dataset.whose === o) && (!wanted.length || whole || has(wordsOf(c)));
          c.hidden = !ok; any = any || ok; all++; shown += ok ? 1 : 0;
        });
        if (here && !v && (!o || e.dataset.whose === o) && (!wanted.length || whole || Array.from(e.querySelectorAll("figcaption, .more li")).some(function (f) { return has(wordsOf(f)); }))) { any = true; }
        e.hidden = !any; some = some || any; sections += any ? 1 : 0;
        document.querySelectorAll(".side a[href='#" + e.id + "']").forEach(function (a) { a.parentNode.hidden = !any; });
      });
      section.hidden = !some;
      document.querySelectorAll(".side a[href='#" + section.id + "']").forEach(function (a) {
        a.parentNode.hidden = !some;
        [section, a.parentNode].forEach(function (e) {
          e.querySelectorAll("h3.ours, li.ours").forEach(function (h) { h.hidden = !section.querySelector(".exp[data-whose=ours]:not([hidden])"); });
        });
      });
    });
    count.textContent = shown + " of " + all + " claims";
    document.querySelector(".nothing").classList.toggle("on", sections === 0);
  }
  var wait;
  text.addEventListener("input", function () { clearTimeout(wait); wait = setTimeout(filter, 120); });
  [verdict, whose, exp].forEach(function (s) { s.addEventListener("change", filter); });
  function ofPaper() {
    Array.from(exp.options).forEach(function (o) { o.hidden = o.value !== "" && paper.value !== "" && o.value.indexOf(paper.value + "/") !== 0; });
    if (exp.selectedOptions[0].hidden) { exp.value = ""; }
  }
  paper.addEventListener("change", function () { ofPaper(); filter(); });
  $("f-reset").addEventListener("click", function () { verdict.value = paper.value = whose.value = exp.value = text.value = ""; ofPaper(); filter(); });
  $("f-fold").addEventListener("click", function () {
    var list = Array.from(document.querySelectorAll(".claim:not([hidden])")), open = list.some(function (d) { return !d.open; });
    list.forEach(function (d) { d.open = open; });
    this.textContent = open ? "fold all" : "open all";
  });
  document.querySelectorAll("[data-choose]").forEach(function (a) {
    a.addEventListener("click", function (e) {
      e.preventDefault();
      paper.value = a.dataset.paper || ""; whose.value = a.dataset.whose || ""; verdict.value = a.dataset.choose; exp.value = ""; text.value = "";
      ofPaper(); filter();
      document.querySelector(".filters").scrollIntoView();
    });
  });
  document.addEventListener("keydown", function (e) {
    if (e.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) { e.preventDefault(); text.focus(); }
  });
  // A link into a folded part opens it.
  function reveal() {
    var e = location.hash.length > 1 && $(decodeURIComponent(location.hash.slice(1)));
    if (!e) { return; }
    for (var d = e; d; d = d.parentElement) { if (d.tagName === "DETAILS") { d.open = true; } }
    if (e.closest("[hidden]")) { $("f-reset").click(); }
    e.scrollIntoView();
    var menu = $("menu");
    if (menu) { menu.checked = false; }
  }
  window.addEventListener("hashchange", reveal);
  reveal();
  // A figure is enlarged by a click.
  var dialog = $("zoom");
  document.addEventListener("click", function (e) {
    var a = e.target.closest && e.target.closest("a.zoom");
    if (!a || e.ctrlKey || e.metaKey || !dialog.showModal) { return; }
    e.preventDefault();
    var img = a.querySelector("img"), large = dialog.querySelector("img");
    large.src = img.src; large.alt = img.alt;
    dialog.showModal();
  });
  dialog.addEventListener("click", function () { dialog.close(); });
  window.addEventListener("beforeprint", function () { document.querySelectorAll("details").forEach(function (d) { d.open = true; }); });
  // The menu marks where the reader is.
  if (window.IntersectionObserver) {
    var links = new Map();
    document.querySelectorAll(".side a").forEach(function (a) { links.set(a.getAttribute("href").slice(1), a); });
    var seen = new IntersectionObserver(function (list) {
      list.forEach(function (i) {
        var a = links.get(i.target.id);
        if (a) { a.classList.toggle("here", i.isIntersecting); }
      });
    }, { rootMargin: "-20% 0px -70% 0px" });
    document.querySelectorAll(".exp").forEach(function (e) { seen.observe(e); });
  }
  filter();
})();
