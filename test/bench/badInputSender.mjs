/** Sends one kind of bad statement after the other between `go` and `stop`, and tells how each was answered. */
import { createInterface } from "node:readline";
import pg from "pg";

const [port, user, password, kind] = process.argv.slice(2);
const million = 1_000_000;
const texts = {
  list: `SELECT id FROM main.orders WHERE id IN (${Array.from({ length: 100_000 }, (_, n) => n).join(", ")})`,
  parentheses: `SELECT ${"(".repeat(million)}1${")".repeat(million)}`,
};
const client = new pg.Client({ host: "127.0.0.1", port: Number(port), user, password });
await client.connect();
let stopping = new AbortController();
let round;
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "go") {
    stopping = new AbortController();
    round = sendAll(stopping.signal);
    continue;
  }
  stopping.abort();
  await round;
  console.log("stopped");
}
await client.end();

async function sendAll(stopped) {
  while (!stopped.aborted) {
    const from = performance.now();
    const code = await client.query(texts[kind]).then(
      () => "rows",
      ({ code: sqlState = "lost" }) => sqlState,
    );
    console.log(`${code} ${performance.now() - from}`);
  }
}
