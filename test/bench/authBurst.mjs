/**
 * What a burst of new logins does to a client that is in: its round trips of `SELECT 1` while nothing
 * else happens and while 200 others log in, each compared with a hash of the cost that
 * `gateway hash-password` takes. Each burst is of other users, so none of them is remembered.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { hashSync } from "bcryptjs";
import pg from "pg";
import { median, quantile, spread } from "./figures.mjs";
import { startGateway } from "./gateway.mjs";

const rounds = 3;
const burst = 200;
const cost = 10;
const quietMs = 6_000;
const host = "127.0.0.1";
const burstProgram = fileURLToPath(new URL("./loginBurst.mjs", import.meta.url));

/** Prints the figures of each round and of all. */
export async function reportBurst() {
  const gateway = await startGateway(configOf(rounds * burst));
  const port = gateway.ports.postgresWire;
  const client = new pg.Client({ host, port, user: "client", password: "secret" });
  await client.connect();
  const untilDone = async (done) => {
    const watch = { over: false };
    const result = done.finally(() => {
      watch.over = true;
    });
    const times = [];
    while (!watch.over) {
      const from = performance.now();
      await client.query("select 1");
      times.push(performance.now() - from);
    }
    return { times: times.toSorted((a, b) => a - b), result: await result };
  };
  await untilDone(pause(quietMs / 4));
  const found = { quiet: [], during: [], more: [], longest: [], seconds: [] };
  for (let round = 0; round < rounds; round += 1) {
    const quiet = await untilDone(pause(quietMs));
    const during = await untilDone(loginBurst(port, round * burst));
    const [before, beside] = [quiet, during].map(({ times }) => quantile(times, 0.99));
    found.quiet.push(before);
    found.during.push(beside);
    found.more.push(beside - before);
    found.longest.push(during.times.at(-1));
    found.seconds.push(during.result);
    console.log(
      `  ${burst} logins in ${during.result.toFixed(1)} s; p50 ${quantile(quiet.times, 0.5).toFixed(2)} then ${quantile(during.times, 0.5).toFixed(2)} ms, p99 ${before.toFixed(2)} then ${beside.toFixed(2)} ms, longest ${quiet.times.at(-1).toFixed(1)} then ${during.times.at(-1).toFixed(1)} ms; ${quiet.times.length} and ${during.times.length} queries`,
    );
  }
  await client.end();
  await gateway.stop();
  console.log(
    `${burst} new logins in ${spread(found.seconds, 1)} s, another client's p99 ${spread(found.quiet, 2)} ms before, ${spread(found.during, 2)} ms beside: ${spread(found.more, 2)} ms more, median ${median(found.more).toFixed(2)}; longest ${spread(found.longest, 1)} ms`,
  );
}

/** Answers the seconds that all of them took. */
function loginBurst(port, first) {
  const args = [burstProgram, `${port}`, `${first}`, `${burst}`];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (piece) => (text += piece));
  return new Promise((resolve, reject) => {
    child.on("close", (code) => {
      if (code === 0) resolve(Number(text));
      else reject(new Error(`the burst ended with ${code}`));
    });
  });
}

function pause(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function configOf(count) {
  const hash = hashSync("secret", cost);
  const names = ["client", ...Array.from({ length: count }, (_, n) => `user${n}`)];
  return `
gateway:
  frontends:
    trinoHttp: {host: 127.0.0.1, port: 0}
    postgresWire: {host: 127.0.0.1, port: 0}
    mysqlWire: {host: 127.0.0.1, port: 0}
  adminApi: {host: 127.0.0.1, port: 0}
  persistence: {type: inMemory}
clusters: {local: {engine: duckDb}}
clusterGroups: {default: {members: [local], maxRunningQueries: 4}}
routingFallback: default
auth:
  provider: static
  staticUsers:
    users:
${names.map((name) => `      ${name}: {passwordHash: "${hash}"}`).join("\n")}
`;
}
