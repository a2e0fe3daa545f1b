import type { Json } from "@gateway/contract/canonical.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byKey } from "./difference/difference.ts";
import {
  fileOf,
  mapObjects,
  objectsIn,
  pathOf,
  settingNames,
  withoutLocal,
  type ConfigObject,
} from "./file.ts";
import { valueAt } from "./keys.ts";

describe("withoutLocal", () => {
  it("leaves out what stays with a process, and the object that would hold nothing else", () => {
    const pythonScripts = [{ file: "/a.py", when: "before" }];
    const clusters = { a: {} };
    expect(withoutLocal({ clusters, translation: { mode: "strict", pythonScripts } })).toEqual({
      clusters,
      translation: { mode: "strict" },
    });
    expect(withoutLocal({ clusters, translation: { pythonScripts } })).toEqual({ clusters });
    expect(withoutLocal({ translation: "wrong" })).toEqual({ translation: "wrong" });
  });
});

describe("fileOf", () => {
  it("puts each object where the file has it", () => {
    expect(
      fileOf([
        { kind: "cluster", name: "duck", body: { engine: "duckDb" } },
        { kind: "clusterGroup", name: "g", body: { members: ["duck"] } },
        { kind: "routing", name: "routing", body: { routers: [], routingFallback: "g" } },
        { kind: "setting", name: "auth", body: { provider: "none" } },
        { kind: "setting", name: "history", body: { redaction: "full" } },
      ]),
    ).toEqual({
      clusters: { duck: { engine: "duckDb" } },
      clusterGroups: { g: { members: ["duck"] } },
      routers: [],
      routingFallback: "g",
      auth: { provider: "none" },
      gateway: { workerApi: { history: { redaction: "full" } } },
    });
  });

  it("lets the document of routing become no other part of the file", () => {
    const body = { clusters: { evil: {} }, routers: [] };
    expect(fileOf([{ kind: "routing", name: "routing", body }])).toEqual({ routers: [] });
  });

  it("is read back by objectsIn, and leads to each object by pathOf", () => {
    const roundTrip = fc.property(objectLists, (objects) => {
      const file = fileOf(objects);
      expect(byKey(objectsIn(file))).toEqual(byKey(objects));
      const pathed = objects.filter(({ kind }) => kind !== "routing");
      for (const object of pathed) expect(valueAt(file, pathOf(object))).toEqual(object.body);
    });
    fc.assert(roundTrip);
  });
});

describe("mapObjects", () => {
  it("changes the objects and leaves wrong shapes and foreign keys in place", () => {
    const file = {
      gateway: { role: "standalone", workerApi: { enabled: true, history: { a: 1 } } },
      clusters: ["wrong"],
      clusterGroups: { g: 1 },
      routers: "wrong",
      unknown: { a: 1 },
    };
    const mapped = mapObjects(file, ({ kind, name, body }) =>
      kind === "routing" ? body : `${kind} ${name}`,
    );
    expect(mapped).toEqual({
      ...file,
      gateway: { role: "standalone", workerApi: { enabled: true, history: "setting history" } },
      clusterGroups: { g: "clusterGroup g" },
    });
  });

  it("sees no object of routing where nothing is routed", () => {
    expect(objectsIn({ routers: [] })).toEqual([]);
    expect(objectsIn({ routingFallback: "g" })).toHaveLength(1);
  });
});

const bodies = fc.constantFrom<Json>({}, { a: 1 }, { b: ["x"] });
const objectLists: fc.Arbitrary<readonly ConfigObject[]> = fc
  .array(
    fc.oneof(
      named(fc.constantFrom("cluster", "clusterGroup", "script"), fc.constantFrom("a", "b", "c")),
      named(fc.constant("setting"), fc.constantFrom(...settingNames)),
      fc.constant<ConfigObject>({
        kind: "routing",
        name: "routing",
        body: { routers: [{ type: "x" }], routingFallback: "g" },
      }),
    ),
  )
  .map((objects) => [...byKey(objects).values()]);

function named(
  kind: fc.Arbitrary<ConfigObject["kind"]>,
  name: fc.Arbitrary<string>,
): fc.Arbitrary<ConfigObject> {
  return fc.record({ kind, name, body: bodies });
}
