import pg from "pg"; import { randomBytes } from "node:crypto"; import { readFileSync, readdirSync } from "node:fs";
import { embeddedPrograms, startPostgres } from "../real/postgresServer.mjs";
const programs = await embeddedPrograms(); const server = await startPostgres(programs.folder, { fsync: "on" });
try {
const c = new pg.Client({ connectionString: server.url }); await c.connect();
for (const f of readdirSync("migrations").filter(f=>f.endsWith(".sql")).sort()) await c.query(readFileSync("migrations/"+f,"utf8"));
const src = readFileSync("packages/control/src/store/drizzle/ingest.ts","utf8");
let st = src.slice(src.indexOf("with incoming as"), src.indexOf("`);\n  if (!answer.ok)"));
st = st.replace("${rows}","$1").replaceAll("${nowMs}","1").replace("${wholeRecord}","rest");
const now=Date.now(); let n=0;
const batch=()=>JSON.stringify(Array.from({length:200},(_,index)=>({id: randomBytes(12).toString("hex"), hash:`sha256:${randomBytes(32).toString("hex")}`, created_at: now+(n++), user_name:`user${index%17}`, status:"finished", cluster_group:"default", cluster:"local", frontend:"postgresWire", worker:"bench1", rest:{createdAt: now + index, startedAt: now + index, finishedAt: now + index + 12,
    clientAddress: "192.0.2.7", engine: "duckDb",    tags: { application: "dashboard" },
    sql: `select region, sum(amount) from sales where day >= date '2026-01-01' and customer = ${index} group by region order by 2 desc`,
    sourceDialect: "postgres", digestHash: randomBytes(16).toString("hex"), rowsReturned: 10, bytesReturned: 420, queueMs: 0.4, executionMs: 11.2,
    routingTrace: [{ step: "fallback", outcome: "group default" }], policyActions: [], engineStats: {}, revision: `1.1.sha256:${"0".repeat(64)}`}})));
const time=async(name,sql,count=150)=>{ const bs=Array.from({length:count},batch); for(const b of bs.slice(0,20)) await c.query({text:sql,values:[b]}).catch(e=>{throw e}); const t=performance.now(); for(const b of bs.slice(20)) await c.query({text:sql,values:[b],rowMode:"array"}); const ms=(performance.now()-t)/(count-20); console.log(name,ms.toFixed(2),"ms/batch", (ms*5).toFixed(1),"us/rec"); };
const cols="id text, hash text, created_at bigint, user_name text, status text, cluster_group text, cluster text, frontend text, error_code text, worker text, rest jsonb";
for (let k=0;k<2;k++){
await time("parse only", "select length($1::text)");
await time("recordset count rest jsonb", `select count(id),count(rest) from json_to_recordset($1::json) as r(${cols})`);
await time("recordset rest text", `select count(id),count(rest) from json_to_recordset($1::json) as r(${cols.replace("rest jsonb","rest text")})`);
await time("jsonb_to_recordset", `select count(id),count(rest) from jsonb_to_recordset($1::jsonb) as r(${cols})`);
await time("insert only", `insert into query_records (proxy_query_id, content_hash, created_at, user_name, status, cluster_group, cluster, frontend, error_code, worker, rest) select * from (select id, hash, created_at, user_name, status, cluster_group, cluster, frontend, error_code, worker, rest from json_to_recordset($1::json) as r(${cols}) order by id collate "C") x on conflict do nothing`);
await time("full", st);
await c.query("begin; set local synchronous_commit=off"); await time("full no commit", st); await c.query("commit");
}
await c.query("drop index query_records_user; drop index query_records_status; drop index query_records_cluster_group; drop index query_records_cluster; drop index query_records_frontend; drop index query_records_worker");
await time("full without 6 indexes", st);
const r=await c.query({text:"explain (analyze, buffers, costs off) "+st, values:[batch()], rowMode:"array"}); console.log(r.rows.map(x=>x[0]).join("\n"));
await c.end();
} finally { await server.stop(); }
