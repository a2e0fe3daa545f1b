import { describe, expect, it } from "vitest";
import { fileSchema } from "../objects.ts";
import { textOf } from "./report.ts";
import { handFreedMembers, nameOnlyAuth, unlimitedGroups } from "./rules.ts";

describe("nameOnlyAuth", () => {
  it.each([{ allowUsers: ["ann"] }, { allowUsers: [] }, {}])(
    "refuses the allow lists %j while nobody is verified",
    (authorization) => {
      expect(pathsFor({ authorization })).toEqual(["clusterGroups.g.authorization"]);
      expect(pathsFor({ authorization }, { provider: "none" })).toHaveLength(1);
    },
  );

  it("accepts allow lists where users are verified", () => {
    const auth = { provider: "static", staticUsers: { users: {} } };
    expect(pathsFor({ authorization: { allowUsers: ["ann"] } }, auth)).toEqual([]);
  });

  it("refuses to ask about users that nobody verified", () => {
    const openfga = { url: "https://fga.example.com", storeId: "01S" };
    const authorization = { provider: "openfga", openfga };
    expect(pathsFor({}, undefined, { authorization })).toEqual(["authorization.provider"]);
  });

  it("refuses every identity but the service account's", () => {
    const cluster = fileSchema.parse({ clusters: { duck: { engine: "duckDb" } } }).clusters["duck"];
    if (cluster === undefined) throw new Error("no cluster");
    const passing = { ...cluster, queryAuth: { type: "passthrough" } };
    const { authorization } = fileSchema.parse({});
    const config = {
      clusters: { duck: passing as typeof cluster },
      clusterGroups: {},
      authorization,
    };
    expect(nameOnlyAuth(config).map(({ path }) => textOf(path))).toEqual([
      "clusters.duck.queryAuth.type",
    ]);
  });
});

describe("unlimitedGroups", () => {
  const endpoint = "https://engine.example:8443";
  const account = { "adbc.snowflake.sql.account": "a" };
  const auth = { type: "basic", username: "svc", password: { secretRef: "env:SVC" } };
  const passthrough = { type: "passthrough" };
  const secure = "mysql://engine.example:9030?require_ssl=true";

  it.each([
    ["limit", { engine: "trino", endpoint, queryAuth: passthrough }],
    ["limit", { engine: "trino", endpoint, auth, queryAuth: { type: "impersonate" } }],
    ["limit", { engine: "starRocks", endpoint: secure, queryAuth: passthrough }],
    ["limit", { engine: "adbc", driver: "snowflake", dbKwargs: account, auth }],
    ["hand", { engine: "adbc", driver: "flightsql", uri: "grpc+tls://engine.example:31337" }],
    ["hand", { engine: "adbc", driver: "/opt/driver.so" }],
    ["hand", { engine: "clickHouse", endpoint, auth, queryAuth: { type: "impersonate" } }],
    ["listing", { engine: "trino", endpoint }],
    ["listing", { engine: "clickHouse", endpoint }],
    ["listing", { engine: "starRocks", endpoint: secure }],
    ["listing", { engine: "mysql", hosts: ["db.example"], auth }],
    ["hand", { engine: "mysql", hosts: ["a.example", "b.example"], auth }],
    ["listing", { engine: "adbc", driver: "postgresql", uri: "postgresql://engine.example/db" }],
    ["process", { engine: "adbc", driver: "sqlite", databasePath: "/srv/a.db" }],
    ["process", { engine: "duckDb" }],
  ])("asks for a limit where it alone frees a slot: by %s, %j", (by, cluster) => {
    const group = { members: ["duck", "c"], maxRunningQueries: 1 };
    const clusters = { duck: { engine: "duckDb" }, c: cluster };
    const configOf = (more: object, without: object = {}) =>
      fileSchema.parse({
        clusters: { ...clusters, c: { ...cluster, ...without } },
        clusterGroups: { g: { ...group, ...more } },
      });
    const paths = unlimitedGroups(configOf({})).map(({ path }) => textOf(path));
    expect(paths).toEqual(by === "limit" ? ["clusterGroups.g.maxExecutionSecs"] : []);
    expect(unlimitedGroups(configOf({ maxExecutionSecs: 60 }))).toEqual([]);
    expect(unlimitedGroups(configOf({}, { enabled: false }))).toEqual([]);
    const byHand = handFreedMembers(configOf({})).map(({ path }) => textOf(path));
    expect(byHand).toEqual(by === "hand" ? ["clusterGroups.g.members[1]"] : []);
  });
});

function pathsFor(group: object, auth?: object, more: object = {}): readonly string[] {
  const config = fileSchema.parse({
    clusters: { duck: { engine: "duckDb" } },
    clusterGroups: { g: { members: ["duck"], maxRunningQueries: 1, ...group } },
    ...(auth === undefined ? {} : { auth }),
    ...more,
  });
  return nameOnlyAuth(config).map(({ path }) => textOf(path));
}
