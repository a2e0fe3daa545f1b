/** Commands on a database, beside the gateway that holds it and without one. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exitOf, loggedPort, outcomeOf, spawnProgram, type Outcome } from "./program.ts";

let folder: string;
let file: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gateway-control-"));
  file = join(folder, "gateway.yaml");
  writeFileSync(file, yamlOf({}));
  expect((await run("migrate")).code).toBe(0);
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe("gateway migrate", () => {
  it("says that there is nothing to do the second time", async () => {
    expect(await run("migrate")).toMatchObject({
      code: 0,
      stdout: "The database is up to date.\n",
    });
  });
});

describe("gateway config", () => {
  it("moves a file into the gateway that runs, which takes it up, and back out", async () => {
    writeFileSync(file, yamlOf({}));
    const gateway = await started();
    expect(await run("config", "diff")).toMatchObject({ code: 0 });
    writeFileSync(file, yamlOf({ maxRows: 1 }));
    const differs = await run("config", "diff");
    expect(differs.code).toBe(1);
    expect(differs.stdout).toBe("~ clusterGroup/default\n    maxRows: (absent) → 1\n");

    const applied = await run("config", "apply");
    expect(applied.stdout).toMatch(/^Revision \d+\.\d+\.sha256:/);
    await gateway.until((line) => line.event === "config.active");
    expect(await codeOf(gateway.port, "from range(2)")).toBe("54000");
    const exported = await run("config", "export");
    expect(exported.stdout).toContain("maxRows: 1");
    expect((await run("config", "apply")).stdout).toMatch(/^Nothing changed; revision/);
    expect(await gateway.stop()).toBe(0);
  }, 60_000);

  it("leaves the database as it was when the file can not work", async () => {
    const before = (await run("config", "export")).stdout;
    writeFileSync(file, yamlOf({}).replace("members: [local]", "members: [gone]"));
    const refused = await run("config", "apply");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("clusterGroups.default.members[0]");
    writeFileSync(file, yamlOf({}));
    expect((await run("config", "export")).stdout).toBe(before);
  }, 60_000);

  it("seals everything anew under a new key, and refuses to start without the old one before", async () => {
    const first = "the first of two encryption keys";
    const second = "the second of two encryption keys";
    file = join(folder, "rekey.yaml");
    const options = { path: join(folder, "rekeyed") };
    writeFileSync(file, yamlOf({ ...options, encryptionKey: first }));
    expect((await run("migrate")).code).toBe(0);
    const filled = await started();
    expect(await filled.stop()).toBe(0);

    writeFileSync(file, yamlOf({ ...options, encryptionKey: second }));
    const refused = await run("start");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("sealed with keys that encryptionKey does not hold");
    writeFileSync(file, yamlOf({ ...options, encryptionKey: `[${second}, ${first}]` }));
    expect((await run("config", "rekey")).stdout).toMatch(/^[1-9]\d* rows sealed/);
    writeFileSync(file, yamlOf({ ...options, encryptionKey: second }));
    expect((await run("config", "export")).code).toBe(0);
  }, 90_000);
});

describe("gateway explain", () => {
  it("tells the way of a query that ran, and says so of one that never was", async () => {
    file = join(folder, "explain.yaml");
    writeFileSync(file, yamlOf({ path: join(folder, "explained") }));
    const gateway = await started();
    expect(await codeOf(gateway.port, "select 1")).toBe("none");
    const { queryId } = await gateway.until((line) => line.event === "query.ended");
    const explained = await run("explain", String(queryId));
    expect(explained.stdout).toContain("fallback: group default");
    const unknown = await run("explain", "20260101_000000_00001_aaaaaaaa");
    expect(unknown.code).toBe(1);
    expect(await gateway.stop()).toBe(0);
  }, 60_000);
});

describe("gateway admin reset-password", () => {
  it("makes an administrator whom the running gateway lets in", async () => {
    file = join(folder, "reset.yaml");
    writeFileSync(file, yamlOf({ path: join(folder, "reset") }));
    const gateway = await started();
    const login = (password: string) =>
      fetch(`http://127.0.0.1:${gateway.adminPort}/admin/me`, {
        headers: { authorization: `Basic ${btoa(`admin:${password}`)}` },
      });
    expect((await run("admin", "reset-password")).code).toBe(1);
    const short = await outcomeOf(["admin", "reset-password", "--config", file], "short\n");
    expect(short.stderr).toContain("fewer than 12 characters");
    const made = await outcomeOf(
      ["admin", "reset-password", "--config", file],
      "a long new password\n",
    );
    expect(made.code).toBe(0);
    expect((await login("a long new password")).status).toBe(200);
    expect((await login("another password")).status).toBe(401);
    expect(await gateway.stop()).toBe(0);
  }, 60_000);
});

describe("SIGHUP", () => {
  it("takes the file again where it is the configuration, and keeps the old one when it is wrong", async () => {
    file = join(folder, "memory.yaml");
    writeFileSync(file, yamlOf({ type: "inMemory" }));
    const gateway = await started();
    writeFileSync(file, yamlOf({ type: "inMemory", maxRows: 1 }));
    gateway.child.kill("SIGHUP");
    await gateway.until((line) => line.event === "config.active");
    expect(await codeOf(gateway.port, "from range(2)")).toBe("54000");
    writeFileSync(file, "clusters: [");
    gateway.child.kill("SIGHUP");
    await gateway.until((line) => line.event === "config.refused");
    expect(await codeOf(gateway.port, "from range(2)")).toBe("54000");
    expect(await gateway.stop()).toBe(0);
  }, 60_000);
});

function run(...args: readonly string[]): Promise<Outcome> {
  return outcomeOf([...args, "--config", file]);
}

interface LogLine {
  readonly event: string;
  readonly queryId?: string;
}

/** A started gateway whose log is read. */
async function started() {
  const child = spawnProgram(["start", "--config", file]);
  const lines: LogLine[] = [];
  let look = (): void => {};
  let rest = "";
  child.stderr?.on("data", (chunk) => {
    const parts = (rest + String(chunk)).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) if (part.startsWith("{")) lines.push(JSON.parse(part) as LogLine);
    look();
  });
  child.on("close", () => look());
  const [port, adminPort] = await Promise.all([
    loggedPort(child, "postgresWire"),
    loggedPort(child, "adminApi"),
  ]);
  return {
    child,
    port,
    adminPort,
    /** The first line that fits, written already or not yet; rejects when the process ends before. */
    until: (fits: (line: LogLine) => boolean) =>
      new Promise<LogLine>((resolve, reject) => {
        look = () => {
          const found = lines.find(fits);
          if (found !== undefined) resolve(found);
          else if (child.exitCode !== null) reject(new Error("the gateway ended"));
        };
        look();
      }),
    stop: () => {
      const ended = exitOf(child);
      child.kill("SIGTERM");
      return ended;
    },
  };
}

/** The SQLSTATE of a refusal; `none` where there is none. */
async function codeOf(port: number, sql: string): Promise<string> {
  const client = new pg.Client({ host: "127.0.0.1", port, user: "ann" });
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query(sql);
    return "none";
  } catch (error) {
    return String((error as { code?: unknown }).code);
  } finally {
    await client.end();
  }
}

interface YamlOptions {
  readonly type?: string;
  readonly path?: string;
  readonly encryptionKey?: string;
  readonly maxRows?: number;
}

function yamlOf({ type = "pglite", path, encryptionKey, maxRows }: YamlOptions): string {
  const database = path ?? join(folder, "db");
  const persistence =
    type === "pglite" ? [`type: ${type}`, `path: ${database}`] : [`type: ${type}`];
  if (encryptionKey !== undefined) persistence.push(`encryptionKey: ${encryptionKey}`);
  const limit = maxRows === undefined ? "" : `, maxRows: ${maxRows}`;
  return `
gateway:
  frontends: {postgresWire: {host: 127.0.0.1, port: 0}}
  adminApi: {host: 127.0.0.1, port: 0}
  persistence: {${persistence.join(", ")}}
clusters: {local: {engine: duckDb}}
clusterGroups: {default: {members: [local], maxRunningQueries: 2${limit}}}
routingFallback: default
`;
}
