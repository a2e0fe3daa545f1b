import { describe, expect, it } from "vitest";
import { textOf } from "@gateway/control/config/check/report.ts";
import { isLoopback, safetyProblems } from "./rules.ts";
import { rootSchema } from "./schema.ts";

describe("safetyProblems", () => {
  it("lets a config without auth listen on loopback", () => {
    expect(pathsFor({ frontends: { postgresWire: { host: "127.0.0.1" } } })).toEqual([]);
    expect(pathsFor({ frontends: { postgresWire: { host: "::1" } } })).toEqual([]);
  });

  it("asks for auth as soon as one listener is reachable from outside", () => {
    const frontends = { trinoHttp: { host: "127.0.0.1" }, mysqlWire: {}, postgresWire: {} };
    expect(linesFor({ frontends })).toEqual([
      "auth: must be written because gateway.frontends.postgresWire listens on 0.0.0.0; provider none verifies nobody",
    ]);
  });

  it("accepts provider none that somebody wrote", () => {
    expect(pathsFor({ frontends: { mysqlWire: {} }, auth: { provider: "none" } })).toEqual([]);
  });

  it("counts only listeners that are opened", () => {
    expect(pathsFor({ frontends: { mysqlWire: { enabled: false } } })).toEqual([]);
  });

  it.each([{ allowUsers: ["ann"] }, { allowGroups: ["staff"] }, { allowUsers: [] }, {}])(
    "refuses the allow lists %j while nobody is verified",
    (authorization) => {
      const lists = { clusterGroups: { "a.b": groupOf(authorization) } };
      expect(linesFor({ ...lists, auth: { provider: "none" } })).toEqual([
        'clusterGroups."a.b".authorization: needs verified users, but auth.provider is none',
      ]);
      expect(pathsFor(lists)).toEqual(['clusterGroups."a.b".authorization']);
      expect(pathsFor({ ...lists, auth: verified })).toEqual([]);
    },
  );

  it("refuses to show an engine a user whom nobody verified", () => {
    const config = rootSchema.parse({ clusters: { a: { engine: "duckDb" } } });
    const cluster = {
      engine: "duckDb",
      enabled: true,
      queryAuth: { type: "passthrough" },
    } as const;
    const asUser = { ...config, clusters: { a: { ...config.clusters["a"], ...cluster } } };
    expect(
      safetyProblems({ ...asUser, clusters: asUser.clusters as unknown as typeof config.clusters }),
    ).toEqual([
      {
        path: ["clusters", "a", "queryAuth", "type"],
        reason: "needs verified users, but auth.provider is none",
      },
    ]);
  });

  it("refuses an admin listener that takes passwords in clear text from outside", () => {
    expect(linesFor({ adminApi: { host: "0.0.0.0" } })).toEqual([
      "gateway.adminApi.tls: is missing: passwords and secrets would be sent in clear text on 0.0.0.0; or bind 127.0.0.1, or set allowCleartext: true behind a proxy that ends TLS",
    ]);
    for (const more of [{ tls }, { allowCleartext: true }, { enabled: false }]) {
      expect(pathsFor({ adminApi: { host: "0.0.0.0", ...more } })).toEqual([]);
    }
  });

  it("ties a control plane to a worker API with a secret, and a standalone gateway to none", () => {
    const workerApi = { sharedSecret: "s".repeat(32) };
    expect(pathsFor({ role: "controlPlane", workerApi })).toEqual([]);
    expect(pathsFor({ role: "controlPlane" })).toEqual(["gateway.workerApi"]);
    expect(pathsFor({ role: "controlPlane", workerApi: {} })).toEqual([
      "gateway.workerApi.sharedSecret",
    ]);
    expect(pathsFor({ role: "controlPlane", workerApi, adminApi: { enabled: false } })).toEqual([
      "gateway.adminApi.enabled",
    ]);
    expect(pathsFor({ workerApi })).toEqual(["gateway.workerApi"]);
    expect(pathsFor({ workerApi: { enabled: false } })).toEqual([]);
  });

  it("takes consent to drills where they begin, and nowhere else", () => {
    expect(pathsFor({ drills: true })).toEqual([]);
    expect(pathsFor({ drills: true, adminApi: { enabled: false } })).toEqual(["gateway.drills"]);
    expect(pathsFor({ drills: true, role: "worker" })).toContain("gateway.drills");
  });

  it("refuses a listener that takes passwords in clear text from outside", () => {
    const frontends = { mysqlWire: {}, trinoHttp: { tls }, postgresWire: { host: "localhost" } };
    expect(linesFor({ frontends, auth: verified })).toEqual([
      "gateway.frontends.mysqlWire.tls: is missing: credentials would be sent in clear text; or set allowCleartext: true",
    ]);
  });

  it("takes clear text where it is allowed by name", () => {
    const frontends = { mysqlWire: { allowCleartext: true } };
    expect(pathsFor({ frontends, auth: verified })).toEqual([]);
  });

  it("asks for no TLS where no credential is taken", () => {
    expect(pathsFor({ frontends: { mysqlWire: {} }, auth: { provider: "none" } })).toEqual([]);
  });
});

describe("groups whose engine can not list what it runs", () => {
  const clusters = {
    c: { engine: "trino", endpoint: "https://t.example", queryAuth: { type: "passthrough" } },
  };
  const clusterGroups = { g: { members: ["c"], maxRunningQueries: 1 } };
  const workerApi = { sharedSecret: "s".repeat(32) };

  it("need a limit where workers lease their slots, and only there", () => {
    const parts = { clusters, clusterGroups, auth: verified };
    expect(linesFor({ ...parts, role: "controlPlane", workerApi })).toEqual([
      "clusterGroups.g.maxExecutionSecs: is required: c can not list what it runs, so that slots of a dead worker come back by it",
    ]);
    expect(linesFor(parts)).toEqual([]);
  });
});

describe("maxRunningPerUser", () => {
  const capped = { members: ["c"], maxRunningQueries: 4, maxRunningPerUser: 2 };
  const parts = { clusters: { c: { engine: "duckDb" } }, clusterGroups: { g: capped } };
  const workerApi = { sharedSecret: "s".repeat(32) };

  it("is taken where users are verified, also where workers share the slots", () => {
    const path = "clusterGroups.g.maxRunningPerUser";
    expect(linesFor({ ...parts, auth: verified })).toEqual([]);
    expect(linesFor({ ...parts, auth: { provider: "none" } })).toEqual([
      `${path}: needs verified users, but auth.provider is none`,
    ]);
    const fleet = { ...parts, role: "controlPlane", workerApi };
    expect(linesFor({ ...fleet, auth: verified })).toEqual([]);
    expect(linesFor({ ...fleet, auth: { provider: "none" } })).toHaveLength(1);
  });
});

describe("isLoopback", () => {
  it.each(["127.0.0.1", "127.8.9.10", "localhost", "LOCALHOST", "::1"])("knows %s", (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each(["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example.com", "127.1", "127.999.0.1", "host"])(
    "does not take %s for this machine alone",
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});

const tls = { certFile: "a.pem", keyFile: "b.pem" };
const verified = { provider: "static", staticUsers: { users: {} } };

function groupOf(authorization: unknown) {
  return { members: ["a"], maxRunningQueries: 1, authorization };
}

interface Parts {
  readonly frontends?: unknown;
  readonly adminApi?: unknown;
  readonly role?: unknown;
  readonly workerApi?: unknown;
  readonly drills?: boolean;
  readonly clusters?: unknown;
  readonly clusterGroups?: unknown;
  readonly auth?: unknown;
}

/** Keys of `gateway` by their names, the rest at the root. */
function linesFor(parts: Parts): readonly string[] {
  const { frontends = {}, adminApi = {}, role = "standalone", workerApi, ...more } = parts;
  const { drills = false, ...rest } = more;
  const served = workerApi === undefined ? {} : { workerApi };
  const gateway = { frontends, adminApi, role, drills, ...served };
  const config = rootSchema.parse({ gateway, ...rest });
  return safetyProblems(config).map(({ path, reason }) => `${textOf(path)}: ${reason}`);
}

function pathsFor(parts: Parts): readonly string[] {
  return linesFor(parts).map((line) => line.slice(0, line.indexOf(": ")));
}
