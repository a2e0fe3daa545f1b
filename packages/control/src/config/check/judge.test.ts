import { describe, expect, it } from "vitest";
import type { JsonMap } from "../file.ts";
import { judgeFile, judgePlace } from "./judge.ts";

describe("judgeFile", () => {
  it("finds nothing wrong with a file that is right, or empty", () => {
    expect(linesFor(fileOf())).toEqual([]);
    expect(linesFor({})).toEqual([]);
  });

  it("names each place of a wrong shape with the nearest known key", () => {
    expect(linesFor({ ...fileOf(), clusters: { duck: { engine: "duckDb", poolSze: 1 } } })).toEqual(
      ["clusters.duck.poolSze: unknown key; did you mean poolSize?"],
    );
    expect(linesFor({ clustrs: {} })).toEqual(["clustrs: unknown key; did you mean clusters?"]);
  });

  it("names every reference that leads nowhere", () => {
    expect(linesFor({ ...fileOf(), clusters: {}, routingFallback: "h" })).toEqual([
      'clusterGroups.g.members[0]: there is no cluster "duck"',
      'routingFallback: there is no cluster group "h"; known: g',
    ]);
  });

  it("applies the rules that span objects", () => {
    const group = { members: ["duck"], maxRunningQueries: 1, authorization: {} };
    expect(linesFor({ ...fileOf(), clusterGroups: { g: group } })).toEqual([
      "clusterGroups.g.authorization: needs verified users, but auth.provider is none",
    ]);
  });

  it("looks at the history policy of the file's process and at nothing else there", () => {
    const history = { redaction: "some", endpoint: "ftp://a.example" };
    expect(linesFor({ gateway: { role: 7, workerApi: { enabled: 7, history } } })).toEqual([
      "gateway.workerApi.history.endpoint: must be an http or https URL",
      "gateway.workerApi.history.redaction: must be one of full, maskLiterals, metadata",
    ]);
  });

  it("asks the process last", () => {
    const asked: unknown[] = [];
    const file = fileOf();
    const fault = { path: "auth", reason: "must be written" };
    const faults = judgeFile(file, (input) => {
      asked.push(input);
      return [fault];
    });
    expect(faults).toEqual([fault]);
    expect(asked).toEqual([file]);
    const lost = { ...file, routingFallback: "h" };
    expect(judgeFile(lost, () => [fault]).map(({ path }) => path)).toEqual([
      "routingFallback",
      "auth",
    ]);
  });
});

describe("judgePlace", () => {
  it("knows the settings there are", () => {
    const { path, reason } = judgePlace({ kind: "setting", name: "auht", body: {} })[0] ?? {};
    expect(`${path}: ${reason}`).toBe("auht: unknown setting; did you mean auth?");
    expect(judgePlace({ kind: "setting", name: "history", body: {} })).toEqual([]);
  });

  it("knows one object of routing and its keys", () => {
    expect(judgePlace({ kind: "routing", name: "routing", body: { routers: [] } })).toEqual([]);
    expect(judgePlace({ kind: "routing", name: "other", body: {} })).toHaveLength(1);
    expect(judgePlace({ kind: "routing", name: "routing", body: [] })).toHaveLength(1);
    expect(judgePlace({ kind: "routing", name: "routing", body: { clusters: {} } })).toEqual([
      { path: "clusters", reason: "unknown key; known: routers, routingFallback" },
    ]);
  });
});

function linesFor(file: JsonMap): readonly string[] {
  return judgeFile(file, () => []).map(({ path, reason }) => `${path}: ${reason}`);
}

function fileOf(): JsonMap {
  return {
    clusters: { duck: { engine: "duckDb" } },
    clusterGroups: { g: { members: ["duck"], maxRunningQueries: 1 } },
  };
}
