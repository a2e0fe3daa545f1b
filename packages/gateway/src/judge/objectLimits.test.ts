import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { rootSchema } from "../config/schema.ts";
import { objectLimits } from "./objectLimits.ts";

const folder = mkdtempSync(join(tmpdir(), "limits-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("objectLimits", () => {
  it("keeps objects out of every folder that is not allowed, also through a link", () => {
    const allowed = join(folder, "allowed");
    mkdirSync(allowed);
    symlinkSync("/etc", join(allowed, "link"));
    const { judge } = limitsOf({ files: { allow: [allowed] } });
    expect(judge(databaseAt(join(allowed, "new", "a.db")))).toEqual([]);
    expect(judge(databaseAt(":memory:"))).toEqual([]);
    for (const path of [
      "/etc/passwd",
      join(allowed, "..", "b.db"),
      join(allowed, "link", "a.db"),
    ]) {
      expect(judge(databaseAt(path))).toEqual([
        {
          path: "clusters.a.databasePath",
          reason: `is not in a folder of gateway.files.allow: ${path}`,
        },
      ]);
    }
  });

  it("looks at every path an engine takes, in lists too", () => {
    const { judge } = limitsOf({});
    const cluster = { engine: "duckDb", allowedDirectories: ["/data"], tempDirectory: "/tmp/x" };
    expect(judge({ clusters: { a: cluster } }).map(({ path }) => path)).toEqual([
      "clusters.a.allowedDirectories[0]",
      "clusters.a.tempDirectory",
    ]);
  });

  it("keeps objects to the driver libraries that are allowed, and every name of a driver is", () => {
    const allowed = join(folder, "libraries");
    mkdirSync(allowed);
    symlinkSync("/usr/lib", join(allowed, "link"));
    const { judge } = limitsOf({ adbc: { libraries: [allowed] } });
    const driver = (name: string) => ({ clusters: { a: { engine: "adbc", driver: name } } });
    expect(judge(driver("postgresql"))).toEqual([]);
    expect(judge(driver(join(allowed, "libx.so")))).toEqual([]);
    for (const path of ["/tmp/evil.so", join(allowed, "link", "libx.so")]) {
      expect(judge(driver(path))).toEqual([
        { path: "clusters.a.driver", reason: `is not among gateway.adbc.libraries: ${path}` },
      ]);
    }
  });

  it("keeps objects to the drivers that are installed, where somebody says which", () => {
    const { judge } = limitsOf({ adbc: { drivers: ["sqlite"] } });
    const driver = (name: string) => ({ clusters: { a: { engine: "adbc", driver: name } } });
    for (const name of ["sqlite", "duckdb"]) expect(judge(driver(name))).toEqual([]);
    expect(judge(driver("snowflake"))).toEqual([
      { path: "clusters.a.driver", reason: "is not among gateway.adbc.drivers: snowflake" },
    ]);
    expect(limitsOf({}).judge(driver("snowflake"))).toEqual([]);
  });

  it("allows what the config file itself names", () => {
    const { judge, resolves } = limitsOf(
      {},
      { ...databaseAt("/data/a.db"), ...userWith("env:ANN") },
    );
    expect(judge(databaseAt("/data/a.db"))).toEqual([]);
    expect(judge(databaseAt("/data/b.db"))).toHaveLength(1);
    expect(resolves("env:ANN")).toBe(true);
    expect(resolves("env:BOB")).toBe(false);
  });

  it("never gives away the secrets of the process itself, even where a pattern covers them", () => {
    const own = { workerApi: { sharedSecret: { secretRef: "env:GATEWAY_SECRET_FLEET" } } };
    const { judge, resolves } = limitsOf({}, { gateway: own });
    expect(resolves("env:GATEWAY_SECRET_OTHER")).toBe(true);
    expect(resolves("env:GATEWAY_SECRET_FLEET")).toBe(false);
    expect(judge(userWith("env:GATEWAY_SECRET_FLEET"))).toEqual([
      {
        path: "auth.staticUsers.users.ann.passwordHash.secretRef",
        reason: "env:GATEWAY_SECRET_FLEET is a secret of the gateway itself",
      },
    ]);
  });

  it("does not follow a link out of an allowed folder of secrets", () => {
    const secrets = join(folder, "secrets");
    mkdirSync(secrets);
    writeFileSync(join(folder, "outside"), "x");
    writeFileSync(join(secrets, "inside"), "x");
    symlinkSync(join(folder, "outside"), join(secrets, "leads-out"));
    const { resolves } = limitsOf({ secrets: { allow: [`file:${secrets}/*`] } });
    expect(resolves(`file:${secrets}/inside`)).toBe(true);
    expect(resolves(`file:${secrets}/leads-out`)).toBe(false);
    expect(resolves(`file:${secrets}/../outside`)).toBe(false);
  });
});

function limitsOf(gateway: object, document: object = {}) {
  return objectLimits(rootSchema.parse({ gateway }), document);
}

function databaseAt(databasePath: string) {
  return { clusters: { a: { engine: "duckDb", databasePath } } };
}

function userWith(secretRef: string) {
  const ann = { passwordHash: { secretRef } };
  return { auth: { provider: "static", staticUsers: { users: { ann } } } };
}
