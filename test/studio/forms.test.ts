/** Studio's forms against the schemas that the admin API serves, and the pure parts of its pages. */
import { groupSchema } from "@gateway/contract/config/group.ts";
import { routersSchema } from "@gateway/contract/config/router.ts";
import { clusterSchema } from "@gateway/control/config/objects.ts";
import { emptyOf, kindOf, resolved, type Schema } from "@gateway/studio/form/schema.ts";
import { after, startState } from "@gateway/studio/console/events.ts";
import { msOf, timingOf } from "@gateway/studio/queries/segments.ts";
import { askedBy } from "@gateway/studio/scripts/askedBy.ts";
import { changesOf, mergeOf, withAt, type Json } from "@gateway/studio/tool/json.ts";
import { textDiff } from "@gateway/studio/tool/textDiff.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";

describe("kindOf", () => {
  it("finds a control for every field of every engine, group and router", () => {
    for (const schema of [clusterSchema, groupSchema, routersSchema]) {
      const root = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Schema;
      const paths: string[] = [];
      asJson(root, { root, path: "", paths, depth: 0 });
      expect(paths.filter((path) => !notBuilt.test(path))).toEqual([]);
    }
  });

  it("shows a secret as one, whatever form it may have", () => {
    const secret: Schema = { "x-secret": true, anyOf: [{ type: "string" }, { type: "object" }] };
    expect(kindOf(secret, secret)).toEqual({ kind: "secret" });
  });
});

describe("timingOf", () => {
  it("tells the stages of the API in their order, and what lies between them", () => {
    const timing = timingOf([
      { stage: "received", at: 1_000, tookMs: 0 },
      { stage: "queued", at: 1_000, tookMs: 40 },
      { stage: "executed", at: 1_045, tookMs: 100 },
      { stage: "ended", at: 1_150, tookMs: 0 },
    ]);
    expect(timing?.segments).toEqual([
      { kind: "waited", ms: 40 },
      { kind: "rest", ms: 5 },
      { kind: "ran", ms: 100 },
      { kind: "rest", ms: 5 },
    ]);
    expect(timing && msOf(timing, "rest")).toBe(10);
  });

  it("has no engine for a query that never got there, and no hole before its end", () => {
    const timing = timingOf([
      { stage: "received", at: 1_000, tookMs: 0 },
      { stage: "queued", at: 1_000, tookMs: 7.5 },
      { stage: "ended", at: 1_007, tookMs: 0 },
    ]);
    expect(timing?.segments).toEqual([{ kind: "waited", ms: 7.5 }]);
    expect(timing && msOf(timing, "ran")).toBeUndefined();
    expect(timingOf([])).toBeUndefined();
  });
});

describe("askedBy", () => {
  it("finds a script wherever a document names it, and not where a text only is the same", () => {
    const place = (title: string, body: unknown) => ({ title, to: `/${title}`, body });
    const found = askedBy("a", [
      place("router", { routers: [{ conditions: [{ type: "script", script: "a" }] }] }),
      place("strategy", { strategy: { type: "script", script: "b" }, members: ["a"] }),
      place("rewrite", { scripts: [{ script: "a", when: "before" }] }),
    ]);
    expect(found.map(({ title }) => title)).toEqual(["router", "rewrite"]);
  });
});

describe("mergeOf", () => {
  it("keeps what both changed in different places, and asks where they clash", () => {
    const base = { cap: 4, rows: 10, tags: { a: "1" } };
    const mine = { cap: 6, rows: 10, tags: { a: "2" } };
    const theirs = { cap: 5, rows: 20, tags: { a: "1", b: "3" } };
    const { merged, clashes } = mergeOf(base, mine, theirs);
    expect(merged).toEqual({ cap: 5, rows: 20, tags: { a: "2", b: "3" } });
    expect(clashes.map(({ path }) => path)).toEqual([["cap"]]);
  });

  it("is the other side's value where only one side changed anything", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (a, b) => {
          const [base, changed] = [plain(a), plain(b)];
          expect(mergeOf(base, changed, base).merged).toEqual(changed);
          expect(mergeOf(base, base, changed).merged).toEqual(changed);
        },
      ),
    );
  });
});

describe("changesOf", () => {
  it("leads from one value to the other", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (a, b) => {
          const [from, to] = [plain(a), plain(b)];
          const made = changesOf(from, to).reduce<Json>(
            (value, { path, to: next }) => withAt(value, path, next) ?? {},
            from,
          );
          expect(made).toEqual(to);
        },
      ),
    );
  });
});

describe("textDiff", () => {
  it("is made of both texts and nothing else", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (from, to) => {
        const pieces = textDiff(from, to);
        const without = (kind: string) =>
          pieces
            .filter((piece) => piece.kind !== kind)
            .map(({ text }) => text)
            .join("");
        expect(without("added")).toBe(from);
        expect(without("removed")).toBe(to);
      }),
    );
  });
});

describe("after", () => {
  it("keeps the rows that came before an error", () => {
    const rows = after(startState, { kind: "rows", rows: [[1], [2]] });
    const error = { code: "engine.failed", message: "gone", retry: "never" } as const;
    expect(after(rows, { kind: "failed", error })).toMatchObject({
      kind: "failed",
      rows: [[1], [2]],
      error,
    });
  });
});

/** Options that no configuration may have yet are shown as not built, and have no fields. */
const notBuilt = /script/;

interface Walk {
  readonly root: Schema;
  readonly path: string;
  readonly paths: string[];
  readonly depth: number;
}

/** Collects the paths that only JSON would fit. */
function asJson(given: Schema, { root, path, paths, depth }: Walk): void {
  if (depth > 12) return;
  const schema = resolved(given, root);
  const kind = kindOf(schema, root);
  const into = (next: Schema, name: string): void =>
    asJson(next, { root, path: `${path}/${name}`, paths, depth: depth + 1 });
  if (kind.kind === "json") paths.push(path);
  if (kind.kind === "list") into(kind.items, "*");
  if (kind.kind === "map") into(kind.values, "*");
  if (kind.kind === "object")
    for (const [name, one] of Object.entries(kind.properties)) into(one, name);
  if (kind.kind !== "union") return;
  expect(emptyOf(schema, root)).toHaveProperty(kind.by);
  for (const { value, schema: option } of kind.options) {
    for (const [name, one] of Object.entries(
      (option["properties"] ?? {}) as Record<string, Schema>,
    )) {
      into(one, `${value}/${name}`);
    }
  }
}

/** As JSON text brings it: without `-0` and odd prototypes. */
function plain(value: unknown): Record<string, Json> {
  return JSON.parse(JSON.stringify(value)) as Record<string, Json>;
}
