/** The command as an operator runs it: exit codes, every problem at once, nothing left open. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { collected, exitOf, loggedPort, outcomeOf, spawnProgram } from "./program.ts";

const long = "select count(*) from range(400000000) t(i) where hash(i) % 7 = 0";
/** Runs for minutes unless it is interrupted. */
const endless =
  "select count(*) from range(1000000000) a(i), range(1000000000) b(j) where hash(i + j) = 1";
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gateway-command-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

it("says which command there is not, with those there are", async () => {
  for (const wrong of [["strat"], ["config", "aply"], ["admin", "reset"]]) {
    const ended = await outcomeOf(wrong);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(`there is no command "${wrong.join(" ")}"\nUsage: gateway`);
  }
});

describe("gateway start", () => {
  it("ends with 1 and names every problem when the config is wrong, and opens nothing", async () => {
    const file = configFile(
      "gatway: {}\nclusters: {a: {engine: nope}}\nclusterGroups: {g: {members: [b]}}\n",
    );
    const ended = await outcomeOf(["start", "--config", file]);
    expect(ended.code).toBe(1);
    const lines = ended.stderr.trim().split("\n");
    expect(lines.length).toBeGreaterThanOrEqual(3);
    expect(ended.stderr).toContain("gatway: unknown key; did you mean gateway?");
  });

  it("ends with 1 when the file is missing or not YAML", async () => {
    expect((await outcomeOf(["start", "--config", join(folder, "none.yaml")])).code).toBe(1);
    const broken = await outcomeOf(["validate", "--config", configFile("a: [1\nb: }")]);
    expect(broken.code).toBe(1);
    expect(broken.stderr).toMatch(/:\d+:\d+: /);
  });

  it("ends with 2, names the listener, and closes the others when a port is in use", async () => {
    await using taken = await listening();
    const ended = await outcomeOf(["start", "--config", configFile(yamlOf(taken.port))]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(`mysqlWire: the port is in use (127.0.0.1:${taken.port}`);
  });

  it("names every certificate that is missing before it makes a database", async () => {
    const tls = `tls: {certFile: ${join(folder, "none.pem")}, keyFile: ${join(folder, "none.key")}}`;
    const store = join(folder, "never");
    const text = yamlOf(0)
      .replace("postgresWire: {", `postgresWire: {${tls}, `)
      .replace("adminApi: {", `adminApi: {${tls}, `)
      .replace("{type: inMemory}", `{type: pglite, path: ${store}}`);
    const ended = await outcomeOf(["start", "--config", configFile(text)]);
    expect(ended.code).toBe(2);
    const named = [...ended.stderr.matchAll(/^(\S+): can not be used \(\S*none\.pem: ENOENT\)$/gm)];
    expect(named.map(([, path]) => path)).toEqual([
      "gateway.frontends.postgresWire.tls.certFile",
      "gateway.adminApi.tls.certFile",
    ]);
    expect(existsSync(store)).toBe(false);
  });

  it("ends with 2 and names the cluster whose driver is not there", async () => {
    const cluster = "{engine: adbc, driver: flightsql, uri: 'grpc+tls://db.internal:1'}";
    const text = yamlOf(0).replace("{engine: duckDb}", cluster);
    const ended = await outcomeOf(["start", "--config", configFile(text)]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(
      /^clusters\.local: no library of the driver flightsql; looked into/m,
    );
  });

  it("lets the running query finish after SIGINT, refuses new clients, and ends with 0", async () => {
    const { child, port, client } = await busy(long);
    const ended = exitOf(child);
    child.kill("SIGINT");
    await until(async () => (await connected(port)) === undefined);
    expect(Number((await client.answer).rows[0]?.[0])).toBeGreaterThan(0);
    expect(await ended).toBe(0);
  }, 60_000);

  it("ends at once with 3 when a second signal comes", async () => {
    const { child, port, client } = await busy(endless);
    const ended = exitOf(child);
    child.kill("SIGTERM");
    await until(async () => (await connected(port)) === undefined);
    child.kill("SIGINT");
    expect(await ended).toBe(3);
    await expect(client.answer).rejects.toBeInstanceOf(Error);
  }, 60_000);
});

describe("gateway hash-password", () => {
  it("prints a hash of standard input that a config accepts", async () => {
    const child = spawnProgram(["hash-password"]);
    child.stdin?.end("alice-secret\n");
    const { code, stdout } = await collected(child);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\$2b\$10\$[./A-Za-z0-9]{53}\n$/);
  });
});

/** A started gateway whose engine runs `sql` for a connected client. */
async function busy(sql: string) {
  const child = spawnProgram(["start", "--config", configFile(yamlOf(0))]);
  const [port, ops] = await Promise.all([
    loggedPort(child, "postgresWire"),
    loggedPort(child, "adminApi"),
  ]);
  const client = await connected(port);
  if (client === undefined) throw new Error("the gateway took no client");
  const answer = client.query<unknown[]>({ text: sql, rowMode: "array" });
  // Its rejection is looked at when the test comes to it.
  answer.catch(() => {});
  await until(async () => {
    const text = await (await fetch(`http://127.0.0.1:${ops}/metrics`)).text();
    return /^gateway_running_queries\{.*\} 1$/m.test(text);
  });
  return { child, port, client: { answer } };
}

/** A client, or undefined when the gateway takes none. */
async function connected(port: number): Promise<pg.Client | undefined> {
  const client = new pg.Client({ host: "127.0.0.1", port, user: "a" });
  // What ends the connection also fails the query.
  client.on("error", () => {});
  try {
    await client.connect();
    return client;
  } catch {
    return undefined;
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(setImmediate);
}

function yamlOf(mysqlPort: number): string {
  return `
gateway:
  frontends:
    postgresWire: {host: 127.0.0.1, port: 0}
    mysqlWire: {host: 127.0.0.1, port: ${mysqlPort}}
  adminApi: {host: 127.0.0.1, port: 0}
  persistence: {type: inMemory}
clusters: {local: {engine: duckDb}}
clusterGroups: {default: {members: [local], maxRunningQueries: 2}}
routingFallback: default
`;
}

function configFile(text: string): string {
  const file = join(folder, `${crypto.randomUUID()}.yaml`);
  writeFileSync(file, text);
  return file;
}

async function listening(): Promise<AsyncDisposable & { readonly port: number }> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}
