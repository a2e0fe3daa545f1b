/** The largest texts that each protocol carries, many at once: each gets a typed answer, others are served meanwhile, and the memory comes back. */
import { execFileSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askMysql2, askPg, askTrino, type Ask } from "../e2e/clients.ts";
import { configOf, type TestGateway } from "../e2e/gateway.ts";
import { exitOf, loggedPort, spawnProgram } from "../e2e/program.ts";

const atOnce = 64;
/** The limit of a text by default, and what is sent in one message beyond it. */
const limitBytes = 1024 * 1024;
const beyondBytes = 8 * limitBytes;
/** Of the process after all of it, over what it had before. Texts that are kept would take three quarters of a gigabyte. */
const bytesMore = 300 * 1024 * 1024;

/** Each protocol with its word for a text over the limit; over HTTP the message is over its own limit too. */
const wires: readonly (readonly [string, Ask, string])[] = [
  ["PostgreSQL", askPg, "54000"],
  ["MySQL", askMysql2, "1153"],
  ["HTTP", askTrino, "413"],
];

/** Cheap for an engine and dear to whoever reads the text, with the kind of answer. */
const shapes: readonly (readonly [string, (units: number) => string, RegExp])[] = [
  ["words", (units) => `select ${"a ".repeat(units / 2)}`, /^[0-9A-Z_]{4,}$/],
  ["brackets", (units) => `select ${"(".repeat(units)}`, /^[0-9A-Z_]{4,}$/],
  [
    "a string",
    (units) => `select length('${"x".repeat(units)}')`,
    /^\d{7}$|^(53400|1041|GENERIC_INSUFFICIENT_RESOURCES)$/,
  ],
];

let folder: string;
let child: ChildProcess;
let gateway: TestGateway;
let quietBytes: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gateway-large-"));
  const file = join(folder, "gateway.json");
  writeFileSync(file, JSON.stringify(twoClusters()));
  child = spawnProgram(["start", "--config", file]);
  const kinds = ["postgresWire", "mysqlWire", "trinoHttp"];
  const ports = await Promise.all(kinds.map((kind) => loggedPort(child, kind)));
  // What the clients need of a gateway is where it listens.
  const found = Object.fromEntries(kinds.map((kind, at) => [kind, ports[at] ?? 0]));
  gateway = { ports: found } as unknown as TestGateway;
  await Promise.all(wires.map(([, ask]) => ask(gateway, { sql: "select 1" })));
  quietBytes = residentBytes();
});

afterAll(async () => {
  const left = exitOf(child);
  child.kill("SIGTERM");
  await left;
  rmSync(folder, { recursive: true });
});

describe("sixty-four large texts at once", () => {
  it.each(wires)(
    "are refused over %s beyond the limit, and others are served",
    async (...wire) => {
      const [, ask, refusal] = wire;
      const sql = `select '${"x".repeat(beyondBytes)}'`;
      expect(await besideOthers(() => ask(gateway, { sql, user: "alice" }))).toEqual(
        Array.from({ length: atOnce }, () => refusal),
      );
    },
    300_000,
  );

  it.each(wires)(
    "are answered over %s up to the limit, and others are served",
    async (...wire) => {
      const [, ask] = wire;
      const texts = shapes.map(([, make]) => make(limitBytes - 64));
      const answers = await besideOthers((at) => {
        const sql = texts[at % texts.length] ?? "";
        return ask(gateway, { sql, user: "alice" });
      });
      for (const [at, answer] of answers.entries()) {
        expect(answer).toMatch(shapes[at % shapes.length]?.[2] ?? /never/);
      }
    },
    300_000,
  );

  // What was freed goes back once the process has been quiet for a while.
  it("leave the process with the memory it had", { timeout: 300_000 }, async () => {
    await expect
      .poll(residentBytes, { timeout: 45_000, interval: 500 })
      .toBeLessThan(quietBytes + bytesMore);
  });
});

/** Asks many times at once, and for another user one short question after the other until all are answered. */
async function besideOthers(ask: (at: number) => Promise<string>): Promise<readonly string[]> {
  const large = { answered: false };
  const all = Promise.all(Array.from({ length: atOnce }, (_, at) => ask(at))).finally(() => {
    large.answered = true;
  });
  while (!large.answered) {
    expect(await askPg(gateway, { sql: "select 1", user: "bob" })).toBe("1");
  }
  return all;
}

/** Each user has a cluster, so that nobody waits for another's slots. */
function twoClusters(): object {
  const groupOf = (member: string) => ({ members: [member], maxRunningQueries: 4 });
  return configOf({
    clusters: { local: { engine: "duckDb" }, other: { engine: "duckDb" } },
    clusterGroups: { default: groupOf("local"), bobs: groupOf("other") },
    routers: [{ type: "userGroup", userToGroup: { bob: "bobs" } }],
  });
}

function residentBytes(): number {
  const text = execFileSync("ps", ["-o", "rss=", "-p", String(child.pid)], { encoding: "utf8" });
  return Number(text) * 1024;
}
