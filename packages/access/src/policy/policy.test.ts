/** Policies by an Open Policy Agent and by Cerbos, with what real ones said (test/real/policyServers.test.ts records it). */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { policyClient } from "../../../../test/fake/policyClient.ts";
import { policyQuestions } from "../../../../test/fake/policyQuestions.ts";
import { FakePolicyServer, type PolicyMood } from "../../../../test/fake/policyServer.ts";

let fake: FakePolicyServer;
beforeEach(async () => {
  fake = await FakePolicyServer.start();
});
afterEach(() => fake[Symbol.asyncDispose]());

const orders = {
  groups: ["EU", "analysts"],
  table: ["sales", "orders"],
  action: "select",
} as const;
const unavailable = { kind: "unavailable" };

describe("policyOf", () => {
  it.each(policyQuestions)("takes what %s said", async (question) => {
    const { by, told: wanted, ...asked } = question;
    await using client = policyClient(by, fake.url);
    expect(await client.ask(asked)).toEqual({ ...wanted, untilMs: 5_000 });
  });

  it("tells the caller, the table, the action, and the settings that are named", async () => {
    await using client = policyClient("data", fake.url, { credentials: { bearer: "key" } });
    const setting = "x".repeat(2_000);
    await client.ask({ ...orders, setting, table: ["a", "b", "lake", "sales", "orders"] });
    expect(fake.asked).toEqual([
      {
        path: "/v1/data/gateway/decision",
        accept: "application/json",
        body: {
          input: {
            user: {
              name: "ann",
              groups: ["EU", "analysts"],
              roles: [],
              attributes: { region: "EU" },
              settings: { application_name: "x".repeat(1_000) },
            },
            action: "select",
            table: { catalog: "a.b.lake", schema: "sales", name: "orders" },
          },
        },
      },
    ]);
    expect(fake.authorizations).toEqual(["Bearer key"]);
  });

  it.each(["data", "compile", "cerbos"] as const)(
    "tells %s the columns that a statement touches, and remembers a decision for them alone",
    async (by) => {
      await using client = policyClient(by, fake.url);
      const columns = { named: ["id"], unresolved: ["email"], prefixes: [], all: false };
      await client.ask({ ...orders, columns });
      await client.host.advance(1_000);
      await client.ask({ ...orders, columns: { ...columns, all: true } });
      await client.host.advance(1_000);
      await client.ask(orders);
      const toldEach = fake.asked.map(({ body }) => toldColumns(body));
      expect(toldEach).toEqual([columns, { ...columns, all: true }, undefined]);
    },
  );

  it("asks once for a burst, and again once a decision is too old, by what is true then", async () => {
    await using client = policyClient("data", fake.url);
    fake.says = { result: { allow: true } };
    const burst = await Promise.all(Array.from({ length: 50 }, () => client.ask(orders)));
    expect(new Set(burst.map(({ kind }) => kind))).toEqual(new Set(["allow"]));
    fake.says = { result: { allow: false } };
    await client.host.advance(4_999);
    expect((await client.ask(orders)).kind).toBe("allow");
    expect(fake.asked).toHaveLength(1);
    await client.host.advance(1);
    expect((await client.ask(orders)).kind).toBe("deny");
    expect((await client.ask({ ...orders, groups: [] })).kind).toBe("deny");
    expect(fake.asked).toHaveLength(3);
  });

  it("counts the age from the question, and remembers nothing where the configuration says so", async () => {
    await using client = policyClient("data", fake.url, { cacheTtlMs: 0 });
    fake.says = { result: { allow: true } };
    await client.host.advance(100);
    expect(await client.ask(orders)).toMatchObject({ kind: "allow", untilMs: 100 });
    await client.ask(orders);
    expect(fake.asked).toHaveLength(2);
  });

  it.each<PolicyMood>(["silent", "nonsense", "failing", "redirecting", "huge"])(
    "shows nothing within its time limit while the server is %s, and asks again a second later",
    async (mood) => {
      fake.says = { result: { allow: true } };
      fake.mood = mood;
      await using client = policyClient("data", fake.url);
      expect(await client.waiting(orders)).toEqual(unavailable);
      expect(client.host.clock.nowMs()).toBeLessThanOrEqual(2_020);
      // A listing asks about many tables, one after the other.
      for (let n = 0; n < 50; n += 1) {
        expect(await client.ask({ ...orders, table: ["sales", `t${n}`] })).toEqual(unavailable);
      }
      expect(fake.asked).toHaveLength(1);
      fake.mood = "well";
      await client.host.advance(1_000);
      expect(await client.ask(orders)).toMatchObject({ kind: "allow" });
    },
  );

  it("shows nothing when the server is gone", async () => {
    await using client = policyClient("compile", fake.url);
    await fake[Symbol.asyncDispose]();
    expect(await client.waiting(orders)).toEqual(unavailable);
    fake = await FakePolicyServer.start();
  });
});

describe("an answer of the data API", () => {
  it.each([
    [{ result: { allow: true, row_filter: "id = 1" } }],
    [{ result: { allow: "yes" } }],
    [{ result: true }],
    [{ result: { allow: true, rowFilter: "" } }],
    [[]],
  ])("that is not of the agreed shape is none: %j", async (says) => {
    expect(await told("data", says)).toEqual(unavailable);
  });

  it.each([
    ["a row filter that can not stand", { rowFilter: "1=1) OR (1=1" }],
    ["a row filter that can not stand", { rowFilter: "id IN (SELECT 1)" }],
    ["a row filter that can not stand", { rowFilter: "a = ${attributes.missing}" }],
    ["a mask of a column that is not shown", { columns: ["id"], masks: { email: "'x'" } }],
    ["a mask that can not stand", { columns: ["id"], masks: { id: "'x' --" } }],
    ["a column that is there twice", { columns: ["id", "id"] }],
    ["no columns", { columns: [] }],
  ])("with %s denies: %j", async (reason, more) => {
    const decision = await told("data", { result: { allow: true, ...more } });
    expect(decision).toMatchObject({ kind: "deny", rule: "gateway/decision", reason });
  });

  it("may mask without a list of columns, which is the catalog's to give", async () => {
    const masks = { email: "'x'" };
    expect(await told("data", { result: { allow: true, masks } })).toMatchObject({
      kind: "allow",
      view: { rows: undefined, columns: { masked: [{ name: "email", mask: "'x'" }] } },
    });
  });

  it("has the caller's attributes written in", async () => {
    const rowFilter = "region = ${attributes.region} OR region IN ${attributes.region}";
    expect(await told("data", { result: { allow: true, rowFilter } })).toMatchObject({
      view: { rows: "region = 'EU' OR region IN ('EU')" },
    });
  });
});

const field = (operator: string, value: unknown, name = "row.a") => ({
  type: "field",
  operator,
  field: name,
  value,
});
const compound = (operator: string, ...value: unknown[]) => ({ type: "compound", operator, value });

describe("what OPA leaves of a rule", () => {
  it.each([
    [field("eq", "o'hara"), "a = 'o''hara'"],
    [field("eq", null), "a IS NULL"],
    [field("ne", null), "a IS NOT NULL"],
    [field("gte", -1.5), "a >= -1.5"],
    [field("eq", true), "a = TRUE"],
    [field("lt", { field: "row.b" }), "a < b"],
    [field("nin", [1, 2]), "NOT (a IN (1, 2))"],
    [field("startswith", "x"), "a LIKE 'x%'"],
    [field("endswith", "x"), "a LIKE '%x'"],
    [field("contains", "x"), "a LIKE '%x%'"],
    [
      compound(
        "or",
        compound("and", field("eq", 1), field("eq", 2)),
        compound("not", field("eq", 3)),
      ),
      "(a = 1 AND a = 2) OR NOT (a = 3)",
    ],
    [compound("not", field("eq", 1), field("eq", 2)), "NOT (a = 1 AND a = 2)"],
  ])("is written as SQL: %j", async (query, rows) => {
    const { view } = (await told("compile", compiled(query))) as { view?: { rows: string } };
    expect(view?.rows).toBe(rows);
  });

  it.each([
    field("regex", "x"),
    field("eq", "back\\slash"),
    field("eq", "x", "rows.a"),
    field("eq", "x", "row.a.b"),
    field("eq", "x", "row.a b"),
    field("eq", "x", "row.select"),
    field("eq", 1e300),
    field("eq", 2 ** 60),
    field("eq", [1]),
    field("lt", null),
    field("in", [null]),
    field("in", "x"),
    field("contains", "50%"),
    field("startswith", 5),
    field("toString", "x"),
    compound("xor", field("eq", 1), field("eq", 2)),
    compound("or"),
    { ...field("eq", 1), more: 1 },
    "WHERE 1 = 1",
    [],
    true,
    Array.from({ length: 20 }).reduce((inner) => compound("not", inner), field("eq", 1)),
  ])("denies where it has no such form: %j", async (query) => {
    expect(await told("compile", compiled(query))).toMatchObject({ kind: "deny" });
  });

  it.each([
    [nested((inner) => compound("not", inner), field("eq", 1)), "a condition that is too deep"],
    [compound("and", field("eq", 1), field("regex", "x")), "the operator regex"],
    [compound("or"), "an operator without conditions"],
    [field("eq", "x", "rows.a"), "a field outside input.row"],
  ])("denies %j and says that it is %s", async (query, reason) => {
    const decision = await told("compile", compiled(query));
    expect(decision).toMatchObject({ kind: "deny", reason: expect.stringContaining(reason) });
  });

  it("names an operator that it has no form for, and repeats nothing else", async () => {
    const reasonOf = async (operator: string) => {
      const decision = await told("compile", compiled(field(operator, "x")));
      return (decision as { readonly reason?: string }).reason;
    };
    expect(await reasonOf("regex")).toContain("the operator regex");
    expect(await reasonOf("a b")).toContain("the operator in it");
  });

  it.each([
    [{ "*": {} }, undefined],
    [
      { a: { replace: { value: null } }, b: {} },
      [
        ["a", "NULL"],
        ["b", undefined],
      ],
    ],
    [{ a: { replace: { value: 5 } } }, [["a", "5"]]],
  ])("shows the columns that its masks list: %j", async (row, columns) => {
    const decision = await told("compile", { result: { query: {}, masks: { row } } });
    const wanted = columns?.map(([name, mask]) => ({ name, mask }));
    const view = wanted && { rows: undefined, columns: wanted };
    expect(decision).toMatchObject({ kind: "allow", view });
  });

  it.each([
    [{ result: { query: {} } }, unavailable],
    [{ result: { query: {}, masks: { other: {} } } }, unavailable],
    [{ result: { query: {}, masks: { row: { a: { hash: {} } } } } }, unavailable],
    [{ result: { query: {}, masks: {} } }, { kind: "deny", reason: "no columns" }],
    [{ result: { query: {}, masks: { row: {} } } }, { kind: "deny", reason: "no columns" }],
    [{ result: { query: {}, masks: { row: { "a b": {} } } } }, { kind: "deny" }],
    [
      { result: { query: {}, masks: { row: { a: { replace: { value: "back\\slash" } } } } } },
      { kind: "deny", reason: "a mask that can not be written as SQL" },
    ],
    [
      { result: { query: {}, masks: { row: { "*": {}, a: { replace: { value: 1 } } } } } },
      { kind: "deny" },
    ],
  ])("shows nothing without masks that can be used: %j", async (says, decision) => {
    expect(await told("compile", says)).toMatchObject(decision);
  });
});

const expression = (operator: string, ...operands: unknown[]) => ({
  expression: { operator, operands },
});
const column = (name: string) => ({ variable: `request.resource.attr.row.${name}` });
const value = (one: unknown) => ({ value: one });

describe("what a plan of Cerbos leaves open", () => {
  it.each([
    [expression("eq", column("a"), value("x")), "a = 'x'"],
    [expression("lt", value(1), column("a")), "1 < a"],
    [expression("ne", column("a"), column("b")), "a <> b"],
    [expression("eq", column("a"), value(null)), "a IS NULL"],
    [expression("in", column("a"), value(["x", 1])), "a IN ('x', 1)"],
    [expression("startsWith", column("a"), value("x")), "a LIKE 'x%'"],
    [expression("not", expression("and", column("a"), value(true))), "NOT (a = TRUE AND 1 = 1)"],
    [expression("or", column("a"), column("b")), "a = TRUE OR b = TRUE"],
  ])("is written as SQL: %j", async (condition, rows) => {
    const { view } = (await told("cerbos", plan(condition))) as { view?: { rows: string } };
    expect(view?.rows).toBe(rows);
  });

  it.each([
    expression("gt", expression("size", column("tags")), value(2)),
    expression("matches", column("a"), value("x")),
    expression("toString", column("a"), value("x")),
    expression("hasIntersection", column("a"), value(["x"])),
    expression("startsWith", column("a"), value("50%")),
    expression("eq", column("a"), value("back\\slash")),
    expression("in", value("x"), column("a")),
    expression("in", value("x"), value(["x"])),
    expression("in", expression("size", column("a")), value([1])),
    expression("startsWith", value("x"), value("x")),
    expression("eq", { variable: "request.resource.attr.a" }, value("x")),
    expression("eq", value(1), value(1)),
    expression("eq", column("a"), value(["x"])),
    expression("eq", column("a"), value({ b: "x" })),
    expression("eq", column("a"), value(1), value(2)),
    expression("eq", column("a")),
    expression("not", column("a"), column("b")),
    expression("and"),
    value("x"),
    column("a.b"),
    undefined,
  ])("denies where it has no such form: %j", async (condition) => {
    expect(await told("cerbos", plan(condition))).toMatchObject({ kind: "deny" });
  });

  it.each([
    [expression("and", column("a"), expression("matches", column("b"), value("x"))), "matches"],
    [expression("a b", column("a"), value("x")), "the operator in it"],
    [expression("eq", column("a"), column("b.c")), "an operand that is no column or value"],
    [expression("eq", column("a"), value(["x"])), "an operand that is no column or value"],
    [expression("eq", value(1), value(1)), "a comparison without a column"],
    [expression("startsWith", value("x"), value("x")), "an operand that is no column"],
    [expression("startsWith", column("a"), value(5)), "a text that is none"],
    [expression("in", column("a"), column("b")), "a list that is none"],
    [expression("or"), "an operator without conditions"],
    [value(5), "a value in place of a condition"],
    [nested((inner) => expression("not", inner), column("a")), "a condition that is too deep"],
  ])("denies %j and says that it is %s", async (condition, reason) => {
    const decision = await told("cerbos", plan(condition));
    expect(decision).toMatchObject({ kind: "deny", reason: expect.stringContaining(reason) });
  });

  it("is asked for by the version and the scope that are configured, and without them by none", async () => {
    const resourceFor = async (more: object) => {
      await using client = policyClient("cerbos", fake.url, more);
      await client.ask(orders);
      const body = fake.asked.at(-1)?.body as { readonly resource: object } | undefined;
      return body?.resource;
    };
    const chosen = { policyVersion: "v2", scope: "acme.eu" };
    expect(await resourceFor(chosen)).toMatchObject(chosen);
    const plain = await resourceFor({ policyVersion: undefined, scope: undefined });
    expect(Object.keys(plain ?? {}).toSorted()).toEqual(["attr", "kind"]);
  });

  it.each([
    { ...plan(column("a")), action: "delete" },
    { ...plan(column("a")), validationErrors: [{ path: "/a" }] },
    { ...plan(column("a")), filter: { kind: "KIND_UNSPECIFIED" } },
    {},
  ])("shows nothing for an answer to something else: %j", async (says) => {
    expect(await told("cerbos", says)).toEqual(unavailable);
  });
});

/** Fifty-one times around the innermost. */
function nested(around: (inner: unknown) => unknown, innermost: unknown): unknown {
  let all = innermost;
  for (let depth = 0; depth <= 50; depth += 1) all = around(all);
  return all;
}

async function told(by: "data" | "compile" | "cerbos", says: unknown): Promise<unknown> {
  fake.says = says;
  await using client = policyClient(by, fake.url);
  return await client.ask(orders);
}

function compiled(query: unknown): object {
  return { result: { query, masks: { row: { "*": {} } } } };
}

function plan(condition: unknown): object {
  const filter = { kind: "KIND_CONDITIONAL", condition };
  return { requestId: "gateway", action: "select", resourceKind: "table", filter };
}

function toldColumns(body: unknown): unknown {
  const { input, resource } = body as {
    readonly input?: { readonly columns?: unknown };
    readonly resource?: { readonly attr: { readonly columns?: unknown } };
  };
  return input === undefined ? resource?.attr.columns : input.columns;
}
