// Compares what test.py left with onnxruntime-web and with pgvector in PGlite: the images of queries, the order of documents, and that the index is used.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as ort from "onnxruntime-web";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";

const work = process.argv[2];
const read = (...path) => JSON.parse(readFileSync(join(work, ...path), "utf8"));
const text = (v) => "[" + v.join(",") + "]";
const documents = read("documents.json");
ort.env.wasm.numThreads = 1;
let failed = 0;
const check = (ok, what) => {
  if (!ok) {
    failed++;
    console.error("FAILED:", what);
  }
};

for (const folder of read("folders.json")) {
  const want = read(folder, "expected.json");
  const session = await ort.InferenceSession.create(readFileSync(join(work, folder, "map.onnx")));
  const d = want.queries[0].length;
  const { y } = await session.run({ x: new ort.Tensor("float32", Float32Array.from(want.queries.flat()), [want.queries.length, d]) });
  const size = Math.max(...want.images.flat().map(Math.abs));
  const worst = Math.max(...want.images.flat().map((v, i) => Math.abs(v - y.data[i]))) / size;
  check(y.dims[1] === want.width && worst < 1e-5, `${folder}: ONNX is off by ${worst}`);

  const db = await PGlite.create({ extensions: { vector } });
  await db.exec("create extension vector");
  await db.exec(`create table documents (id int primary key, embedding vector(${d}))`);
  for (let i = 0; i < documents.length; i += 500) {
    await db.exec("insert into documents values " + documents.slice(i, i + 500).map((v, j) => `(${i + j},'${text(v)}')`).join(","));
  }
  await db.exec(readFileSync(join(work, folder, "map.sql"), "utf8"));
  const [op, ops] = { cosine: ["<=>", "vector_cosine_ops"], ip: ["<#>", "vector_ip_ops"], l2: ["<->", "vector_l2_ops"] }[want.by];
  let column = "embedding";
  if (want.mapped) {
    column = "learned";
    await db.exec(`alter table documents add column learned vector(${want.width}); update documents set learned = learned(embedding)`);
  }
  const search = `select id from documents order by ${column} ${op} learned($1) limit 10`;
  let same = 0;
  for (const [i, q] of want.queries.slice(0, 40).entries()) {
    const { rows } = await db.query(search, [text(q)]);
    same += rows.every((r, j) => r.id === want.order[i][j]);
  }
  check(same >= 39, `${folder}: ${same} of 40 orders are those of the exact search`); // float32 may exchange two neighbours
  await db.exec(`create index on documents using hnsw (${column} ${ops}); set enable_seqscan = off`);
  const plan = (await db.query("explain " + search.replace("$1", `'${text(want.queries[0])}'`))).rows.map((r) => r["QUERY PLAN"]).join("\n");
  check(/Index Scan using documents_/.test(plan), `${folder}: no index scan:\n${plan}`);
  await db.exec("drop function learned; drop table metriclab_map");
  console.log(`${folder}: ONNX within ${worst.toExponential(1)}; ${same} of 40 orders equal; index used`);
  await db.close();
}
process.exit(failed ? 1 : 0);
