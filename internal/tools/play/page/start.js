// The program and the two tabs. `call` asks the learners; a test of the page sets `calls`, which keeps what was asked and answered.
let bytes = null;

function call(name, args) {
  const asked = JSON.stringify(args), answered = metriclab(name, asked);
  globalThis.calls?.push([name, asked, answered]);
  const out = JSON.parse(answered);
  if (out?.error) { trouble(out.error); throw new Error(`${name}: ${out.error}`); }
  return out;
}

function trouble(text) {
  $("trouble").textContent = text;
  $("trouble").hidden = false;
}

// boot starts the program, and again should it end: every call says all that it rests on, so that nothing is lost.
async function boot() {
  const go = new Go(), {instance} = await WebAssembly.instantiate(bytes, go.importObject), began = performance.now();
  go.run(instance).then(() => performance.now() - began > 1000 ? boot() : trouble("The program ends at once: load the page again."));
}

const lessons = {metric, faces};
let open = "metric";

function tab(name) {
  open = name;
  for (const id of Object.keys(lessons)) {
    $(id).hidden = id !== name;
    $(`tab-${id}`).setAttribute("aria-selected", id === name);
    $(`tab-${id}`).tabIndex = id === name ? 0 : -1;
  }
}

document.addEventListener("keydown", e => {
  if (e.repeat || e.ctrlKey || e.metaKey || e.altKey || !document.body.dataset.ready) return;
  if (e.target.closest("select, input")) return;
  if (e.target.role === "tab" && ["ArrowLeft", "ArrowRight"].includes(e.key)) {
    const other = open === "metric" ? "faces" : "metric";
    tab(other);
    $(`tab-${other}`).focus();
    return;
  }
  if (e.target.id === "cloud" && e.key.startsWith("Arrow")) return;
  const act = lessons[open].keys[e.key];
  if (act) { e.preventDefault(); act(); }
});
for (const id of Object.keys(lessons)) $(`tab-${id}`).onclick = () => tab(id);
addEventListener("hashchange", () => { if (faces.restore()) { tab("faces"); faces.begin(); } });

(async () => {
  try {
    const raw = Uint8Array.from(atob($("wasm").textContent), c => c.charCodeAt(0));
    bytes = await new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
    $("wasm").remove();
    await boot();
    document.body.dataset.ready = Math.round(performance.now());
    faces.begin();
    if (location.hash.includes("a=")) tab("faces");
    metric.begin();
  } catch (e) {
    trouble(`This browser cannot run the page: ${e.message}. It needs WebAssembly and DecompressionStream, which browsers of 2023 have.`);
  }
})();
