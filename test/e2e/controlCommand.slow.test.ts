/** Commands on a database, beside the gateway that holds it and without one. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { readConfig } from "@gateway/gateway/command/configFile.ts";
import { configCommand, type ConfigAction } from "@gateway/gateway/command/configFiles.ts";
import { explainCommand } from "@gateway/gateway/command/explain.ts";
import { migrateCommand } from "@gateway/gateway/command/migrate.ts";
import { resetPasswordCommand } from "@gateway/gateway/command/resetPassword.ts";
import { startCommand } from "@gateway/gateway/command/start/start.ts";
import type { Terminal } from "@gateway/gateway/command/terminal.ts";
import { loadDocument } from "@gateway/gateway/config/load.ts";
import { openHostAccess } from "@gateway/gateway/command/withHostAccess.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminUrl } from "./admin.ts";
import { askPg } from "./clients.ts";
import { bundle, gatewayOf, type TestGateway } from "./gateway.ts";
import { exitOf, loggedPort, spawnProgram } from "./program.ts";

let folder: string;
let file: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gateway-control-"));
  file = join(folder, "gateway.yaml");
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("commands beside a running gateway", () => {
  it("move a file into it, which it takes up, and back out, and tell the way of a query", async () => {
    written({});
    await using gateway = await started();
    expect(await config("diff")).toMatchObject({ code: 0 });
    written({ maxRows: 1 });
    expect(await config("diff")).toMatchObject({
      code: 1,
      out: "~ clusterGroup/default\n    maxRows: (absent) → 1\n",
    });
    expect((await config("apply")).out).toMatch(/^Revision \d+\.\d+\.sha256:/);
    await until(async () => (await askPg(gateway, { sql: "from range(2)" })) === "54000");
    expect((await config("export")).out).toContain("maxRows: 1");
    expect((await config("apply")).out).toMatch(/^Nothing changed; revision/);

    const before = (await config("export")).out;
    writeFileSync(file, yamlOf({}).replace("members: [local]", "members: [gone]"));
    const refused = await config("apply");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("clusterGroups.default.members[0]");
    written({});
    expect((await config("export")).out).toBe(before);

    const id = await until(newestQuery);
    const explained = await run((terminal) => explainCommand(id, file, terminal));
    expect(explained.out).toContain("fallback: group default");
    const unknown = "20260101_000000_00001_aaaaaaaa";
    expect((await run((terminal) => explainCommand(unknown, file, terminal))).code).toBe(1);
    expect(await run((terminal) => migrateCommand(file, terminal))).toMatchObject({
      code: 0,
      out: "The database is up to date.\n",
    });
  }, 60_000);

  it("make an administrator whom it lets in", async () => {
    await using gateway = await started();
    const login = (password: string) =>
      fetch(`${adminUrl(gateway)}/admin/me`, {
        headers: { authorization: `Basic ${btoa(`admin:${password}`)}` },
      });
    const short = await resetPassword("short\n");
    expect(short).toMatchObject({ code: 1, err: "the password has fewer than 12 characters\n" });
    expect((await login("a long new password")).status).toBe(401);
    expect((await resetPassword("a long new password\n")).code).toBe(0);
    expect((await login("a long new password")).status).toBe(200);
  }, 60_000);
});

describe("gateway config rekey", () => {
  it("seals everything anew, after which the old key may go; before, a start is refused", async () => {
    const first = "the first of two encryption keys";
    const second = "the second of two encryption keys";
    const path = join(folder, "rekeyed");
    written({ path, encryptionKey: first });
    await (await started())[Symbol.asyncDispose]();

    written({ path, encryptionKey: second });
    const refused = await run((terminal) => startCommand(file, terminal));
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("sealed with keys that encryptionKey does not hold");
    written({ path, encryptionKey: `[${second}, ${first}]` });
    expect((await config("rekey")).out).toMatch(/^[1-9]\d* rows sealed/);
    written({ path, encryptionKey: second });
    expect((await config("export")).code).toBe(0);
  }, 60_000);
});

describe("SIGHUP", () => {
  it("takes the file again where it is the configuration, and keeps the old one when it is wrong", async () => {
    written({ type: "inMemory" });
    const child = spawnProgram(["start", "--config", file]);
    const log = eventsOf(child);
    await loggedPort(child, "adminApi");
    written({ type: "inMemory", maxRows: 1 });
    child.kill("SIGHUP");
    await log.until("config.active");
    writeFileSync(file, "clusters: [");
    child.kill("SIGHUP");
    await log.until("config.refused");
    const ended = exitOf(child);
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
  }, 60_000);
});

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command as the process would, with `input` on its standard input. */
async function run(command: (terminal: Terminal) => Promise<number>, input = ""): Promise<Outcome> {
  let out = "";
  let err = "";
  const code = await command({
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    stdin: Readable.from([input]),
    environment: {},
    bundle,
  });
  return { code, out, err };
}

function config(action: ConfigAction): Promise<Outcome> {
  return run((terminal) => configCommand(action, file, terminal));
}

function resetPassword(input: string): Promise<Outcome> {
  return run((terminal) => resetPasswordCommand({ user: "admin", file }, terminal), input);
}

/** A gateway of the written file, in this process. */
async function started(): Promise<TestGateway> {
  const document = loadDocument(file);
  if (!document.ok) throw new Error(JSON.stringify(document.error));
  return gatewayOf(document.value as object);
}

/** Id of the newest query in the history. */
async function newestQuery(): Promise<string | undefined> {
  const read = readConfig(file, { environment: {} });
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  const opened = await openHostAccess(read.value, { bundle });
  if (!opened.ok) throw new Error(opened.error);
  await using access = opened.value;
  const page = await access.store.records.list({}, { limit: 1, cursor: undefined });
  return page.ok ? page.value.items[0]?.proxyQueryId : undefined;
}

/** Events of a process's log, as they are written. */
function eventsOf(child: ReturnType<typeof spawnProgram>) {
  let text = "";
  let look = (): void => {};
  child.stderr?.on("data", (chunk) => {
    text += String(chunk);
    look();
  });
  child.on("close", () => look());
  return {
    until: (event: string) =>
      new Promise<void>((resolve, reject) => {
        look = () => {
          if (text.includes(`"event":"${event}"`)) resolve();
          else if (child.exitCode !== null) reject(new Error(`ended: ${text}`));
        };
        look();
      }),
  };
}

async function until<Value>(look: () => Promise<Value>): Promise<NonNullable<Value>> {
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== null && value !== false) return value;
  }
}

interface YamlOptions {
  readonly type?: string;
  readonly path?: string;
  readonly encryptionKey?: string;
  readonly maxRows?: number;
}

function written(options: YamlOptions): void {
  writeFileSync(file, yamlOf(options));
}

function yamlOf({ type = "pglite", path, encryptionKey, maxRows }: YamlOptions): string {
  const persistence = [`type: ${type}`];
  if (type === "pglite") persistence.push(`path: ${path ?? join(folder, "db")}`);
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
