import type { Json } from "@gateway/contract/canonical.ts";
import { describe, expect, it } from "vitest";
import { byKey, differencesOf } from "./difference.ts";
import type { ConfigObject } from "../file.ts";

describe("differencesOf", () => {
  it("finds none between equal configurations, whatever order their keys have", () => {
    const a = duckOf({ engine: "duckDb", poolSize: 1 });
    const b = duckOf({ poolSize: 1, engine: "duckDb" });
    expect(differencesOf(byKey([a]), byKey([b]))).toEqual([]);
  });

  it("names added and removed objects", () => {
    const object = { kind: "cluster", name: "duck" };
    const duck = duckOf({ engine: "duckDb" });
    expect(differencesOf(byKey([]), byKey([duck]))).toEqual([
      { object, kind: "added", changes: [] },
    ]);
    expect(differencesOf(byKey([duck]), byKey([]))).toEqual([
      { object, kind: "removed", changes: [] },
    ]);
  });

  it("names the paths that differ with what they were and are", () => {
    const from = duckOf({ engine: "duckDb", poolSize: 1, allowedDirectories: ["/a", "/b"] });
    const to = duckOf({ engine: "duckDb", threads: 2, allowedDirectories: ["/a"] });
    expect(differencesOf(byKey([from]), byKey([to]))[0]?.changes).toEqual([
      { path: "allowedDirectories[1]", from: "/b" },
      { path: "poolSize", from: 1 },
      { path: "threads", to: 2 },
    ]);
  });

  it("tells that a secret changed, and no more", () => {
    const reference = { secretRef: "env:GATEWAY_SECRET_A" };
    const changes = (from: Json, to: Json) =>
      differencesOf(byKey([historyOf(from)]), byKey([historyOf(to)]))[0]?.changes;
    const set = { set: true };
    expect(changes("old", "new")).toEqual([{ path: "auth.bearer", from: set, to: set }]);
    expect(changes("old", reference)).toEqual([{ path: "auth.bearer", from: set, to: reference }]);
    expect(JSON.stringify(changes("old", "new"))).not.toMatch(/old|new/);
  });
});

function duckOf(body: Json): ConfigObject {
  return { kind: "cluster", name: "duck", body };
}

function historyOf(bearer: Json): ConfigObject {
  return { kind: "setting", name: "history", body: { auth: { bearer } } };
}
