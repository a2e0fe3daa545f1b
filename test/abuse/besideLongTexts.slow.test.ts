/** Another user asks on while long statements of many shapes arrive over each wire, from a process of their own. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf } from "../e2e/gateway.ts";
import { exitOf, loggedPort, spawnProgram } from "../e2e/program.ts";

const sender = fileURLToPath(new URL("../bench/textSender.mjs", import.meta.url));
const kinds = { postgres: "postgresWire", mysql: "mysqlWire", trino: "trinoHttp" } as const;
const wires = ["postgres", "mysql", "trino"] as const;
type Wire = (typeof wires)[number];

/** Whoever reads such a text in one go keeps everybody waiting for hundreds of times a quiet answer's slowest in a hundred; of sixty megabytes for thousands. */
const timesQuiet = 100;
const quietQueries = 2_000;
/** Too many tokens, too long, or no SQL. */
const typed = /^(?:ok|5400[01]|42601|ER_[A-Z_]+|[A-Z_]{6,})$/;

let folder: string;
let gateway: ChildProcess;
let ports: Readonly<Record<Wire, number>>;
let bob: pg.Client;
let quietMs: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gateway-beside-"));
  const file = join(folder, "gateway.json");
  writeFileSync(file, JSON.stringify(twoClusters()));
  gateway = spawnProgram(["start", "--config", file]);
  const found = wires.map(async (wire) => [wire, await loggedPort(gateway, kinds[wire])] as const);
  ports = Object.fromEntries(await Promise.all(found)) as Record<Wire, number>;
  bob = new pg.Client({ host: "127.0.0.1", port: ports.postgres, user: "bob" });
  await bob.connect();
  // Until V8 has compiled what a query runs through, on both sides.
  await asks(quietQueries);
  quietMs = slowest(await asks(quietQueries));
}, 120_000);

afterAll(async () => {
  await bob.end();
  const left = exitOf(gateway);
  gateway.kill("SIGTERM");
  await left;
  rmSync(folder, { recursive: true });
}, 60_000);

describe.each(wires)("beside long texts over %s", (wire) => {
  it.each([
    ["of a megabyte", 1 << 20],
    ["of sixty", 60_000_000],
  ])(
    "%s another user is answered, and soon",
    async (_, bytes) => {
      const args = [sender, wire, String(ports[wire]), String(bytes)];
      const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      expect(await lines.next()).toMatchObject({ value: "ready" });
      const round = { over: false };
      const answers = readRound(lines).finally(() => {
        round.over = true;
      });
      child.stdin.write("go\n");
      const times = await asks(Number.POSITIVE_INFINITY, round);
      for (const answer of await answers) expect(answer.split(" ")[1]).toMatch(typed);
      child.stdin.end();
      expect(slowest(times)).toBeLessThan(timesQuiet * quietMs);
    },
    120_000,
  );
});

async function readRound(lines: AsyncIterator<string>): Promise<readonly string[]> {
  const answers: string[] = [];
  for (;;) {
    const line = await lines.next();
    if (line.done === true) throw new Error("the sender ended");
    if (line.value === "round") return answers;
    answers.push(line.value);
  }
}

/** Asks one question after the other and answers how long each took, milliseconds. */
async function asks(most: number, until: { readonly over: boolean } = { over: false }) {
  const times: number[] = [];
  while (times.length < most && !until.over) {
    const from = performance.now();
    expect((await bob.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    times.push(performance.now() - from);
  }
  return times;
}

/** What one in a hundred is slower than. */
function slowest(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}

/** Each user has a cluster: what is shared is the gateway. */
function twoClusters(): object {
  const groupOf = (member: string) => ({ members: [member], maxRunningQueries: 4 });
  return configOf(
    {
      clusters: { local: { engine: "duckDb" }, other: { engine: "duckDb" } },
      clusterGroups: { default: groupOf("local"), bobs: groupOf("other") },
      routers: [{ type: "userGroup", userToGroup: { bob: "bobs" } }],
    },
    { maxMessageBytes: 64 << 20 },
  );
}
