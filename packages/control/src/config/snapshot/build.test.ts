import { gunzipSync, gzipSync } from "node:zlib";
import { canonicalJson, type Json } from "@gateway/contract/canonical.ts";
import { snapshotBodySchema } from "@gateway/contract/snapshot.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byKey } from "../difference/difference.ts";
import type { ConfigObject } from "../file.ts";
import {
  buildBody,
  builtOf,
  hashOf,
  logBytesOf,
  objectsOfBody,
  readBody,
  readLogged,
} from "./build.ts";
import { casesOf } from "../../../../../test/cases.ts";

describe("buildBody", () => {
  it("builds identical bytes from any configurations, whatever order objects and keys come in", () => {
    const identical = fc.property(objectLists, fc.infiniteStream(fc.nat()), (objects, chance) => {
      const one = buildBody(objects);
      const other = buildBody(
        shuffled(
          objects.map((object) => rekeyed(object, chance)),
          chance,
        ),
      );
      expect(Buffer.compare(one.bytes, other.bytes)).toBe(0);
      expect(other.hash).toBe(one.hash);
    });
    fc.assert(identical, { numRuns: casesOf(1_000, 10_000) });
  }, 60_000);

  it("keeps each object as it was written, under its name", () => {
    const { body } = buildBody([
      { kind: "clusterGroup", name: "g", body: { members: ["duck"] } },
      { kind: "setting", name: "auth", body: { provider: "none" } },
      { kind: "setting", name: "history", body: { redaction: "metadata" } },
      { kind: "setting", name: "translation", body: { mode: "strict" } },
      { kind: "cluster", name: "duck", body: { engine: "duckDb" } },
      { kind: "script", name: "b", body: { language: "js" } },
      { kind: "script", name: "a", body: { language: "js" } },
      {
        kind: "routing",
        name: "routing",
        body: { routers: [{ type: "x" }], routingFallback: "g" },
      },
    ]);
    expect(body).toEqual({
      clusters: { duck: { engine: "duckDb" } },
      clusterGroups: { g: { members: ["duck"] } },
      routers: [{ type: "x" }],
      routingFallback: "g",
      scripts: [
        { name: "a", language: "js" },
        { name: "b", language: "js" },
      ],
      settings: { auth: { provider: "none" } },
      translation: { mode: "strict" },
      history: { redaction: "metadata" },
    });
  });

  it("builds a body with all its parts from nothing", () => {
    const { bytes, hash } = buildBody([]);
    expect(textOf(bytes)).toBe(
      '{"clusterGroups":{},"clusters":{},"history":{},"routers":[],"scripts":[],"settings":{},"translation":{}}',
    );
    expect(hash).toBe("sha256:2d037e057c08af47f7667e29bb8e5af8aeeef1178b5ed93f44a7dad0dae890a1");
  });

  it("is canonical and hashes what it is", () => {
    const hashed = fc.property(objectLists, (objects) => {
      const { bytes, hash, body } = buildBody(objects);
      expect(canonicalJson(JSON.parse(textOf(bytes)) as Json)).toBe(textOf(bytes));
      expect(snapshotBodySchema.parse(JSON.parse(textOf(bytes)))).toEqual(body);
      expect(hashOf(bytes)).toBe(hash);
    });
    fc.assert(hashed);
  });
});

describe("readBody", () => {
  it("reads what was built", () => {
    const roundTrip = fc.property(objectLists, (objects) => {
      const built = buildBody(objects);
      expect(readBody(built.bytes, built.hash)).toEqual({ ok: true, value: built });
    });
    fc.assert(roundTrip);
  });

  it("refuses bytes with another hash, and bytes that are no body", () => {
    const { bytes, hash } = buildBody([]);
    const code = (bad: Uint8Array, badHash: string) => {
      const read = readBody(bad, badHash);
      return read.ok ? "read" : read.error.code;
    };
    expect(code(bytes.subarray(1), hash)).toBe("hashDiffers");
    expect(code(bytes.subarray(1), hashOf(bytes.subarray(1)))).toBe("notABody");
    const other = new TextEncoder().encode("{}");
    expect(code(other, hashOf(other))).toBe("notABody");
  });
});

describe("objectsOfBody", () => {
  it("answers the objects that a body was built from", () => {
    const back = fc.property(objectLists, (objects) => {
      const { bytes, hash } = buildBody(objects);
      const found = objectsOfBody(bytes);
      const silent = (object: ConfigObject) => saysNothing(object);
      expect(byKey(found)).toEqual(byKey(objects.filter((object) => !silent(object))));
      expect(buildBody(found).hash).toBe(hash);
    });
    fc.assert(back);
  });
});

describe("builtOf", () => {
  it("makes a tail that completes an answer after a head of its own", async () => {
    const body = buildBody([{ kind: "cluster", name: "é", body: { engine: "duckDb" } }]);
    const revision = { epoch: 1, sequence: 1, hash: body.hash };
    const built = await builtOf(body, { revision, schemaVersion: 1, createdAt: 5 });
    const answer = Buffer.concat([gzipSync('{"head":{"a":1},'), built.gzipTail]);
    const read = JSON.parse(gunzipSync(answer).toString("utf8")) as object;
    expect(read).toEqual({ head: { a: 1 }, ...body.body });
  });

  it("completes an answer of an empty configuration as well", async () => {
    const body = buildBody([]);
    const revision = { epoch: 1, sequence: 1, hash: body.hash };
    const { gzipTail } = await builtOf(body, { revision, schemaVersion: 1, createdAt: 5 });
    const answer = gunzipSync(Buffer.concat([gzipSync('{"head":{},'), gzipTail]));
    expect(JSON.parse(answer.toString("utf8"))).toEqual({ head: {}, ...body.body });
  });
});

describe("readLogged", () => {
  it("reads the bytes and the tail that were kept, and bytes that were kept as they are", async () => {
    const reads = fc.asyncProperty(objectLists, async (objects) => {
      const body = buildBody(objects);
      const revision = { epoch: 1, sequence: 1, hash: body.hash };
      const built = await builtOf(body, { revision, schemaVersion: 1, createdAt: 5 });
      const { gzipTail } = built;
      const whole = { ok: true, value: { body, gzipTail } };
      expect(await readLogged(logBytesOf(built), body.hash)).toEqual(whole);
      const plain = { ok: true, value: { body, gzipTail: undefined } };
      expect(await readLogged(body.bytes, body.hash)).toEqual(plain);
    });
    await fc.assert(reads);
  });

  it("refuses what is neither", async () => {
    const refused = { ok: false, error: { code: "notABody" } };
    for (const bad of [new Uint8Array(), Uint8Array.of(0x1f, 0x8b, 8), Uint8Array.of(1, 2, 3)]) {
      expect(await readLogged(bad, hashOf(bad))).toEqual(refused);
    }
  });
});

const names = fc.constantFrom("a", "b", "Z", "é", "1", "10", "a.b");
const values = fc.letrec<{ value: Json; map: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, 1, -0.5, 1e21, "", "a", "\u20ac", '"'),
    fc.array(tie("value"), { maxLength: 2 }),
    tie("map"),
  ),
  map: fc.dictionary(names, tie("value"), { maxKeys: 3 }),
}));
const map = values.map;
const settings = fc.constantFrom("auth", "authorization", "guardrails", "translation", "history");
const objectLists: fc.Arbitrary<readonly ConfigObject[]> = fc
  .array(
    fc.oneof(
      objectsOf("cluster", names, map),
      objectsOf("clusterGroup", names, map),
      objectsOf("script", names, map),
      objectsOf("setting", settings, map),
      objectsOf(
        "routing",
        fc.constant("routing"),
        fc.record({
          routers: fc.array(map, { minLength: 1, maxLength: 3 }),
          routingFallback: names,
        }),
      ),
    ),
    { maxLength: 6 },
  )
  .map((objects) => [...byKey(objects).values()]);

function objectsOf(
  kind: ConfigObject["kind"],
  name: fc.Arbitrary<string>,
  body: fc.Arbitrary<Json>,
): fc.Arbitrary<ConfigObject> {
  return fc.record({ kind: fc.constant(kind), name, body }).map((object) => {
    if (object.kind !== "script") return object;
    // A script's own name is the object's.
    const { name: _name, ...rest } = object.body as Readonly<Record<string, Json>>;
    return { ...object, body: rest };
  });
}

function saysNothing({ kind, name, body }: ConfigObject): boolean {
  const always = kind === "setting" && (name === "translation" || name === "history");
  return always && Object.keys(body as object).length === 0;
}

function rekeyed(object: ConfigObject, chance: Iterator<number>): ConfigObject {
  const turn = (value: Json): Json => {
    if (Array.isArray(value)) return (value as readonly Json[]).map(turn);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, item]) => [key, turn(item ?? null)] as const);
    return Object.fromEntries(shuffled(entries, chance));
  };
  return { ...object, body: turn(object.body) };
}

function shuffled<Item>(items: readonly Item[], chance: Iterator<number>): readonly Item[] {
  const ranked = items.map((item) => ({ item, rank: Number(chance.next().value) }));
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ item }) => item);
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
