import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, describe, expect, it } from "vitest";
import type { Terminal } from "./terminal.ts";
import { validateCommand } from "./validate.ts";

const folder = mkdtempSync(join(tmpdir(), "gateway-validate-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("validateCommand", () => {
  it("answers 0 for a config without a problem, and says so", async () => {
    const file = fileOf(
      "good.yaml",
      "gateway: { frontends: { postgresWire: { host: 127.0.0.1 } } }",
    );
    expect(await validate(file)).toEqual({ code: 0, out: `${file}: valid\n`, err: "" });
  });

  it("answers 1 and gives each problem a line of its own", async () => {
    const file = fileOf("bad.yaml", "gatway: {}\nclusters: { a: { engine: duck } }\nrouters: 5\n");
    const { code, out, err } = await validate(file);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toBe(
      [
        `${file}:2:18: clusters.a.engine: must be one of adbc, clickHouse, duckDb, mysql, postgresql, starRocks, trino; did you mean duckDb?`,
        `${file}:3:1: routers: must be a list, not a number`,
        `${file}:1:1: gatway: unknown key; did you mean gateway?`,
        "",
      ].join("\n"),
    );
  });

  it("warns of slots that come back by hand only, where workers lease them", async () => {
    const text = `
clusters: { f: { engine: adbc, driver: flightsql, uri: "grpc+tls://f.example:31337" } }
clusterGroups: { g: { members: [f], maxRunningQueries: 1 } }
gateway: { frontends: { postgresWire: { host: 127.0.0.1 } }`;
    const alone = fileOf("alone.yaml", `${text} }`);
    expect(await validate(alone)).toEqual({ code: 0, out: `${alone}: valid\n`, err: "" });
    const api = "{ sharedSecret: { secretRef: 'env:FLEET' } }";
    const fleet = fileOf("fleet.yaml", `${text}, role: controlPlane, workerApi: ${api} }`);
    const { code, err } = await validate(fleet);
    expect(code).toBe(0);
    expect(err).toMatch(/:3:33: clusterGroups\.g\.members\[0\]: warning: f can neither .*\n$/);
  });

  it("places mistakes of the text by line and column", async () => {
    const file = fileOf("broken.yaml", "gateway: {\nclusters: [\n");
    const { code, err } = await validate(file);
    expect(code).toBe(1);
    const lines = err.trimEnd().split("\n");
    for (const line of lines) {
      expect(line.startsWith(`${file}:`)).toBe(true);
      expect(line.slice(file.length)).toMatch(/^:\d+:\d+: ./);
    }
    expect(new Set(lines).size).toBe(lines.length);
  });

  it("checks several files in one run and answers 1 when one of them has a problem", async () => {
    const good = fileOf("first.yaml", "gateway: { frontends: {} }\n");
    const bad = fileOf("second.yaml", "# nothing\n\nrouters: 5\n");
    const { code, out, err } = await validate(bad, good, join(folder, "third.yaml"));
    expect({ code, out }).toEqual({ code: 1, out: `${good}: valid\n` });
    const lines = err.trimEnd().split("\n");
    expect(lines).toContain(`${bad}:3:1: routers: must be a list, not a number`);
    expect(lines.at(-1)).toBe(`${join(folder, "third.yaml")}: can not be read (ENOENT)`);
  });

  it("answers 1 for a file that is not there", async () => {
    const file = join(folder, "gone.yaml");
    expect(await validate(file)).toEqual({
      code: 1,
      out: "",
      err: `${file}: can not be read (ENOENT)\n`,
    });
  });

  it("resolves no secret: the file may be checked on another machine", async () => {
    const users = "{ ann: { passwordHash: { secretRef: 'env:NOT_SET_HERE' } } }";
    const file = fileOf(
      "secret.yaml",
      `auth: { provider: static, staticUsers: { users: ${users} } }`,
    );
    expect((await validate(file)).code).toBe(0);
  });
});

async function validate(...files: readonly string[]) {
  const written = { out: "", err: "" };
  const terminal: Terminal = {
    out: (text) => (written.out += text),
    err: (text) => (written.err += text),
    stdin: Readable.from([]),
    environment: {},
    bundle: new URL("file:///"),
  };
  const code = await validateCommand(files, terminal);
  return { code, ...written };
}

function fileOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
