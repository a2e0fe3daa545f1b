/**
 * What others wait while somebody sends statements that no parser likes, under a policy and under translation: a list of
 * a hundred thousand items and a million parentheses. Alone and beside in turns, in one run.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { hashSync } from "bcryptjs";
import pg from "pg";
import { quantile } from "./figures.mjs";
import { configOf, startGateway } from "./gateway.mjs";

const sender = fileURLToPath(new URL("badInputSender.mjs", import.meta.url));
const password = "bench-secret";
const queriesBefore = Number(process.env.BAD_BEFORE ?? 3_000);
const perTurn = Number(process.env.BAD_TURN ?? 300);
const turns = 4;
/** `BAD_ONLY="translation list"` measures one row, which fits into a minute. */
const [onlyStage, onlyKind] = (process.env.BAD_ONLY ?? "").split(" ");
const kinds = ["list", "parentheses"].filter((kind) => !onlyKind || kind === onlyKind);
/** Who sends, and who is asked beside. */
const sides = {
  policy: { by: "eve", beside: "ann" },
  translation: { by: "mal", beside: "tom" },
};

export async function badInputRows() {
  const gateway = await startGateway(config());
  const port = gateway.ports.postgresWire;
  const rows = [];
  for (const [stage, { by, beside }] of Object.entries(sides)) {
    if (onlyStage && stage !== onlyStage) continue;
    const other = await connected(port, beside);
    await (await connected(port, by)).end();
    await asked(other, queriesBefore);
    for (const kind of kinds) {
      const row = await measured({ stage, kind, other, port, by });
      // Each takes a while, and a run that is cut has told what it found.
      console.log(JSON.stringify(row));
      rows.push(row);
    }
    await other.end();
  }
  await gateway.stop();
  return rows;
}

async function measured({ stage, kind, other, port, by }) {
  const child = spawn(process.execPath, [sender, String(port), by, password, kind], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  const alone = [];
  const beside = [];
  const answers = new Map();
  let slowestMs = 0;
  for (let turn = 0; turn < turns; turn += 1) {
    alone.push(...(await asked(other, perTurn)));
    child.stdin.write("go\n");
    // From its first answer on, which the parser's thread is started for.
    await lines.next();
    beside.push(...(await asked(other, perTurn)));
    child.stdin.write("stop\n");
    for (;;) {
      const { value: line } = await lines.next();
      if (line === "stopped") break;
      const [code, ms] = line.split(" ");
      answers.set(code, (answers.get(code) ?? 0) + 1);
      slowestMs = Math.max(slowestMs, Number(ms));
    }
  }
  const gone = once(child, "close");
  child.stdin.end();
  await gone;
  const p50 = [alone, beside].map((times) => quantile(sorted(times), 0.5));
  const p99 = [alone, beside].map((times) => quantile(sorted(times), 0.99));
  return {
    what: `another's new statement under ${stage}, beside ${kind}`,
    "alone p50 ms": p50[0].toFixed(3),
    "beside p50 ms": p50[1].toFixed(3),
    ratio: (p50[1] / p50[0]).toFixed(2),
    "p99 ms": p99.map((ms) => ms.toFixed(1)).join(" / "),
    "was answered": [...answers].map(([code, count]) => `${code} ×${count}`).join(", "),
    "slowest ms": slowestMs.toFixed(0),
  };
}

function sorted(times) {
  return times.toSorted((one, another) => one - another);
}

let number = 0;

async function asked(client, count) {
  const times = [];
  for (let done = 0; done < count; done += 1) {
    const sql = `SELECT id, region FROM main.orders WHERE id = ${(number += 1)}`;
    const from = performance.now();
    await client.query(sql);
    times.push(performance.now() - from);
  }
  return times;
}

async function connected(port, user) {
  const client = new pg.Client({ host: "127.0.0.1", port, user, password });
  await client.connect();
  await client.query("CREATE TABLE IF NOT EXISTS main.orders (id INTEGER, region VARCHAR)");
  return client;
}

/** Each user has an engine: what is shared is the gateway. Limits of texts are far away, so that the parser meets them. */
function config() {
  const users = ["ann", "eve", "tom", "mal"];
  const wire = `{host: 127.0.0.1, port: 0, maxStatementBytes: ${64 << 20}, maxStatementTokens: 100000000, maxMessageBytes: ${64 << 20}}`;
  const of = (text) => users.map((user) => text.replaceAll("USER", user)).join(", ");
  const hash = hashSync(password, 4);
  return configOf()
    .replace(/postgresWire: \{[^}]*\}/, `postgresWire: ${wire}`)
    .replace(/^clusters: .*$/m, `clusters: {${of("USER: {engine: duckDb}")}}`)
    .replace(
      /^clusterGroups: .*$/m,
      `clusterGroups: {${of("USER: {members: [USER], maxRunningQueries: 4}")}}`,
    )
    .replace(
      "routingFallback: default",
      `routers: [{type: userGroup, userToGroup: {${of("USER: USER")}}}]\nroutingFallback: ann`,
    )
    .replace(
      /^auth: .*$/m,
      `auth: {provider: static, staticUsers: {users: {${of(`USER: {passwordHash: "${hash}"}`)}}}}
translation: {mode: bestEffort, errorOnUnsupported: true, clusterGroups: [tom, mal]}
accessControl:
  provider: rules
  clusterGroups: [ann, eve]
  defaultSchema: main
  rules:
    - {name: own, tables: ["*.*"], actions: [select, insert, update, delete, ddl]}`,
    );
}
