/**
 * `node test/fuzz/flight.mjs [seconds] [seed]`: calls by chance over HTTP/2 into a running gateway's listener of Arrow Flight
 * SQL. Each has to end with a status of gRPC, and after each burst a good query has to be answered. Ends with 1 when one does
 * not, when the gateway counts a bug, grows, or is gone.
 */
import { connect } from "node:http2";
import { countedLine } from "../evidence/counted.mjs";
import { bugsCounted, bundled, ranOn, residentBytes, startFuzzed } from "./running.mjs";

const seconds = Number(process.argv[2] ?? 60);
const firstSeed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const burst = 40;
/** Only ends what hangs: how long a busy machine takes says nothing. */
const endSeconds = 60;
const grownBytesMax = 300e6;
const service = "/arrow.flight.protocol.FlightService/";

const { callOf, goodCall } = await bundled("flightCalls.ts");
const gateway = await startFuzzed(["flightSql"]);
const statuses = new Map();
const problems = [];
let calls = 0;
await ranOn(gateway, problems, run);

async function run() {
  const endMs = performance.now() + seconds * 1_000;
  let before;
  for (let seed = firstSeed; performance.now() < endMs && problems.length === 0; seed += burst) {
    await inTurn(seed);
    const good = await ended(goodCall);
    if (good !== "0") problems.push(`FAILED   after seed ${seed} a good query gets ${good}`);
    const bugs = await bugsCounted(gateway);
    if (bugs > 0) problems.push(`FAILED   ${bugs} bugs counted in the burst of seed ${seed}`);
    // What is made once is there after some bursts.
    if (seed - firstSeed >= 10 * burst) before ??= residentBytes(gateway);
  }
  const grown = before === undefined ? 0 : residentBytes(gateway) - before;
  if (grown > grownBytesMax) problems.push(`FAILED   it grew by ${Math.round(grown / 1e6)} MB`);
  if (!statuses.has("0")) problems.push("FAILED   nothing was taken, so little was tried");
  const found = JSON.stringify(Object.fromEntries(statuses));
  console.log(
    `ok  Flight SQL: ${calls} calls, ${Math.round(grown / 1e6)} MB more, statuses ${found}`,
  );
  console.log(`seed ${firstSeed}`);
  console.log(countedLine("badInputs", calls));
}

/** A burst over one connection. */
async function inTurn(from) {
  const seeds = Array.from({ length: burst }, (_, index) => from + index);
  const session = connect(`http://127.0.0.1:${gateway.ports.flightSql}`);
  session.on("error", () => {});
  try {
    await Promise.all(
      seeds.map(async (seed) => {
        const call = callOf(seed);
        const status = await ended(call, session);
        calls += 1;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (!/^\d+$/.test(status))
          problems.push(`FAILED   seed ${seed}, ${call.method}: ${status}`);
      }),
    );
  } finally {
    session.destroy();
  }
}

/** `grpc-status` of its end, or what it ended with instead. */
async function ended({ method, bytes }, shared) {
  const session = shared ?? connect(`http://127.0.0.1:${gateway.ports.flightSql}`);
  const stream = session.request({
    ":method": "POST",
    ":path": service + method,
    "content-type": "application/grpc",
    te: "trailers",
    authorization: `Basic ${Buffer.from("ann:x").toString("base64")}`,
  });
  try {
    return await new Promise((resolve) => {
      let status;
      const limit = setTimeout(() => resolve(`no end after ${endSeconds} s`), endSeconds * 1_000);
      const take = (headers) => {
        status = headers["grpc-status"] ?? status;
      };
      stream.on("response", take);
      stream.on("trailers", take);
      stream.on("error", (error) => resolve(status ?? String(error)));
      stream.on("close", () => {
        clearTimeout(limit);
        resolve(status ?? "no status");
      });
      stream.resume();
      stream.end(bytes);
    });
  } finally {
    stream.destroy();
    if (shared === undefined) session.destroy();
  }
}
