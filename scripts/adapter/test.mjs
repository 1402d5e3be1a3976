// Compares what test.py left with onnxruntime-web, and with pgvector in PGlite, in which it does what the README says: the images of vectors, the order of documents, and
// that the index is used.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as ort from "onnxruntime-web";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";

const work = process.argv[2];
const read = (...path) => JSON.parse(readFileSync(join(work, ...path), "utf8"));
const text = (v) => "[" + v.join(",") + "]";
let failed = 0;
process.on("uncaughtException", (e) => {
  console.error("FAILED:", e.message); // its stack has the text of whole packages
  process.exit(1);
});
const check = (ok, what) => {
  if (!ok) {
    failed++;
    console.error("FAILED:", what);
  }
};
// How far numbers are from those wanted, in parts of the largest of these.
const off = (want, got) => (want.length === got.length ? Math.max(...want.map((v, i) => Math.abs(v - got[i]))) / Math.max(...want.map(Math.abs)) : Infinity);

ort.env.wasm.numThreads = 1;
const documents = read("documents.json");
const db = await PGlite.create({ extensions: { vector } });
await db.exec(`create extension vector; create table documents (id int primary key, embedding vector(${documents[0].length}))`);
await db.exec("insert into documents values " + documents.map((v, i) => `(${i},'${text(v)}')`).join(","));

for (const folder of read("folders.json")) {
  const want = read(folder, "expected.json");
  const session = await ort.InferenceSession.create(readFileSync(join(work, folder, "map.onnx")));
  const run = async (x) => (await session.run({ x: new ort.Tensor("float32", Float32Array.from(x.flat()), [x.length, x[0].length]) })).y;
  const y = await run(want.vectors);
  const one = await run(want.vectors.slice(0, 1));
  const onnx = Math.max(off(want.images.flat(), Array.from(y.data)), off(want.images[0], Array.from(one.data)));
  check(onnx < 1e-5 && text(y.dims) === text([want.images.length, want.images[0].length]), `${folder}: ONNX is off by ${onnx}, ${y.dims}`);
  await session.release();

  const [use, undo] = Array.from(readFileSync(join(work, folder, "README.md"), "utf8").matchAll(/```sql\n(.*?)```/gs), (m) => m[1]);
  const ready = use.split("\n").filter((line) => !line.startsWith("select"));
  const search = use.slice(use.indexOf("select id"));
  await db.exec(readFileSync(join(work, folder, "map.sql"), "utf8"));
  const { rows } = await db.query("select learned(x::vector)::text as y from unnest($1::text[]) with ordinality as t (x, i) order by i", [want.vectors.map(text)]);
  const sql = off(want.images.flat(), rows.flatMap((r) => JSON.parse(r.y)));
  check(sql < 1e-5, `${folder}: SQL is off by ${sql}`);

  if (use === search) await db.exec(`create index today on documents using hnsw (embedding vector_${want.by}_ops)`);
  await db.exec(ready.join("\n"));
  await db.exec("vacuum analyze documents");
  const found = async () => {
    const ids = [];
    for (const q of want.vectors.slice(0, want.order.length)) ids.push((await db.query(search, [text(q)])).rows.map((r) => r.id));
    return ids;
  };
  await db.exec("set enable_indexscan = off");
  const exact = (await found()).filter((ids, i) => text(ids) === text(want.order[i])).length;
  check(exact >= want.order.length - 1, `${folder}: ${exact} of ${want.order.length} orders are those of the exact search`); // float32 may exchange two neighbours
  await db.exec("reset enable_indexscan");
  const plan = (await db.query("explain " + search.replace("$1", `'${text(want.vectors[0])}'`))).rows.map((r) => r["QUERY PLAN"]).join("\n");
  check(/Index Scan using (today|documents_learned_idx) /.test(plan), `${folder}: no scan of the index:\n${plan}`);
  const shares = (await found()).map((ids, i) => ids.filter((id) => want.order[i].includes(id)).length / want.order[i].length);
  const recall = shares.reduce((a, b) => a + b) / shares.length;
  check(recall >= 0.95, `${folder}: recall ${recall} by the index`);
  console.log(`${folder}: ONNX within ${onnx.toExponential(1)}, SQL within ${sql.toExponential(1)}; ${exact} of ${want.order.length} orders equal; index used, recall ${recall.toFixed(3)}`);

  await db.exec(undo + "drop index if exists today");
  const left = (await db.query("select proname as name from pg_proc where proname = 'learned' union select relname from pg_class where relname = 'metriclab_map' union select attname from pg_attribute where attname = 'learned'")).rows;
  check(left.length === 0, `${folder}: not undone: ${left.map((r) => r.name)}`);
}
await db.close();
console.log(failed ? `${failed} checks failed` : "all as the READMEs say");
process.exit(failed ? 1 : 0);
