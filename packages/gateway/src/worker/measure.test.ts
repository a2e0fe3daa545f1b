import { it } from "vitest";
import { gzipSync } from "node:zlib";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { snapshotOf, bodyOf, testSecret } from "./testSnapshot.ts";
import { headKeysOf, inflated, verifySnapshot } from "./verify.ts";
it("measures", async () => {
  const clusters = Object.fromEntries(Array.from({length: 14000}, (_, i) => [`cluster-${i}`, { engine: "duckDb", enabled: true, databasePath: `/data/some/path/of/cluster/${i}.db`, note: "x".repeat(180), auth: {type:"basic", username:"u"+i, password: "pppppppppppp"+i} }]));
  const { bytes } = snapshotOf({ body: { ...bodyOf("a"), clusters } });
  console.log("bytes", bytes.length);
  const keys = headKeysOf([testSecret]);
  const gz = gzipSync(bytes);
  for (let i = 0; i < 8; i++) {
    let last = performance.now(); let max = 0; let on = true;
    const tick = () => { const n = performance.now(); max = Math.max(max, n-last); last = n; if (on) setImmediate(tick); };
    setImmediate(tick);
    const t0 = performance.now();
    const b = await inflated(gz, "gzip");
    const t1 = performance.now();
    const v = b.ok && await verifySnapshot(b.value, keys);
    const t2 = performance.now();
    on = false;
    console.log("inflate", (t1-t0).toFixed(1), "verify", (t2-t1).toFixed(1), v && v.ok, "max stall", max.toFixed(1));
  }
});
