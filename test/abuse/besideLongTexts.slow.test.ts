/**
 * Another user asks on while long statements of many shapes arrive over each wire, from a process of their own.
 *
 * Judged by the work that the gateway's one thread did between a question and its answer, and not by the
 * clock: what else runs on the machine makes everybody wait, and is none of the gateway's doing. The
 * question is an empty one, which is answered in one turn: it meets one slice, or all of a text.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

/** In slices a hundred or two, for collections of garbage as well; five thousand and more where a megabyte is read in one go. */
const timesQuiet = 1_000;
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
  quietMs = metBy(await asks(quietQueries), 0.5);
}, 600_000);

afterAll(async () => {
  await bob.end();
  const left = exitOf(gateway);
  gateway.kill("SIGTERM");
  await left;
  rmSync(folder, { recursive: true });
});

// Only Linux counts the work of a thread for others to read.
describe.skipIf(process.platform !== "linux").each(wires)("beside long texts over %s", (wire) => {
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
      const work = await asks(Number.POSITIVE_INFINITY, round);
      for (const answer of await answers) expect(answer.split(" ")[1]).toMatch(typed);
      child.stdin.end();
      expect(metBy(work, 0.9)).toBeLessThan(timesQuiet * quietMs);
    },
    600_000,
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

/** Asks one question after the other and answers what the gateway did meanwhile, for whomever, milliseconds of its thread. */
async function asks(most: number, until: { readonly over: boolean } = { over: false }) {
  const work: number[] = [];
  while (work.length < most && !until.over) {
    const from = workedMs();
    await bob.query("");
    work.push(workedMs() - from);
  }
  return work;
}

/** What the gateway's thread that serves everybody has worked so far, without what it waited for a processor. */
function workedMs(): number {
  const { pid } = gateway;
  const [ns] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
  return Number(ns) / 1e6;
}

/**
 * Such a share of the work was done in pieces that are no longer than this. Counted by work: of thousands
 * of questions few meet a text that is read in one go, and these hold nearly all that was done.
 */
function metBy(work: readonly number[], share: number): number {
  const sorted = work.toSorted((one, other) => one - other);
  const all = sorted.reduce((sum, ms) => sum + ms, 0);
  let done = 0;
  return sorted.find((ms) => (done += ms) >= share * all) ?? 0;
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
