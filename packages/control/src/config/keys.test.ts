import { describe, expect, it } from "vitest";
import { z } from "zod";
import { keysAt, kindsAt, placesAt, valueAt, type JsonSchema } from "./keys.ts";

describe("keysAt", () => {
  it("knows the keys of the root and of objects below", () => {
    expect(keysAt(schema, [], {})).toEqual(["listener", "clusters", "routers", "secret"]);
    expect(keysAt(schema, ["listener"], {})).toEqual(["port", "host"]);
  });

  it("takes the member of a union that the written discriminator chooses", () => {
    const input = { clusters: { a: { engine: "file" }, b: { engine: "server" } } };
    expect(keysAt(schema, ["clusters", "a"], input)).toEqual(["engine", "path"]);
    expect(keysAt(schema, ["clusters", "b"], input)).toEqual(["engine", "url"]);
  });

  it("offers the keys of every member while none is chosen", () => {
    const keys = keysAt(schema, ["clusters", "a"], { clusters: { a: {} } });
    expect(new Set(keys)).toEqual(new Set(["engine", "path", "url"]));
  });

  it("goes through lists and through objects that hold themselves", () => {
    const input = { routers: [{ and: [{ and: [{ word: "a" }] }] }] };
    const path = ["routers", 0, "and", 0, "and", 0];
    expect(keysAt(schema, path, input)).toEqual(["word", "and"]);
  });

  it("takes the object of a union of text and object", () => {
    expect(keysAt(schema, ["secret"], { secret: { ref: "" } })).toEqual(["secretRef"]);
  });

  it("offers no key that is not built", () => {
    expect(keysAt(schema, [], {})).not.toContain("later");
  });

  it("knows nothing about a place that nothing describes", () => {
    expect(keysAt(schema, ["nowhere", "at", "all"], {})).toEqual([]);
    expect(keysAt(schema, ["listener", "toString"], {})).toEqual([]);
  });
});

describe("kindsAt", () => {
  it("lists the kinds that can be chosen", () => {
    expect(kindsAt(schema, ["clusters", "a", "engine"], {})).toEqual(["file", "server"]);
  });
});

describe("placesAt", () => {
  it("keeps the marks of a field", () => {
    expect(placesAt(schema, ["secret"], {}).map((place) => place["x-secret"])).toEqual([true]);
  });
});

describe("valueAt", () => {
  it("answers only what was written", () => {
    expect(valueAt({ a: [{ b: 1 }] }, ["a", 0, "b"])).toBe(1);
    expect(valueAt({}, ["constructor", "name"])).toBeUndefined();
    expect(valueAt(null, ["a"])).toBeUndefined();
  });
});

interface Condition {
  readonly word?: string | undefined;
  readonly and?: readonly Condition[] | undefined;
}

const condition: z.ZodType<Condition> = z
  .strictObject({
    word: z.string().optional(),
    get and() {
      return z.array(condition).optional();
    },
  })
  .meta({ id: "TestCondition" });

const schema = z.toJSONSchema(
  z.strictObject({
    listener: z.strictObject({ port: z.int(), host: z.string() }).prefault({ port: 1, host: "a" }),
    clusters: z.record(
      z.string(),
      z.discriminatedUnion("engine", [
        z.strictObject({ engine: z.literal("file"), path: z.string() }),
        z.strictObject({ engine: z.literal("server"), url: z.string() }),
        z.looseObject({ engine: z.literal("later") }).meta({ "x-not-built": true }),
      ]),
    ),
    routers: z.array(condition),
    secret: z
      .union([z.string(), z.strictObject({ secretRef: z.string() })])
      .meta({ "x-secret": true }),
    later: z.never().optional().meta({ "x-not-built": true }),
  }),
  { io: "input" },
) as JsonSchema;
