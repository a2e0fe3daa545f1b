import { describe, expect, it } from "vitest";
import { fileSchema } from "./objects.ts";
import { textOf } from "./report.ts";
import { nameOnlyAuth } from "./rules.ts";

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

function pathsFor(group: object, auth?: object, more: object = {}): readonly string[] {
  const config = fileSchema.parse({
    clusters: { duck: { engine: "duckDb" } },
    clusterGroups: { g: { members: ["duck"], maxRunningQueries: 1, ...group } },
    ...(auth === undefined ? {} : { auth }),
    ...more,
  });
  return nameOnlyAuth(config).map(({ path }) => textOf(path));
}
