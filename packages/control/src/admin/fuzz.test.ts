import { virtualHost } from "@gateway/core/rig/virtual.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adminRoles } from "../store/store.ts";
import { drizzleStore } from "../store/drizzle.ts";
import { testDatabase } from "../store/rig/database.ts";
import { fileOf, testAdmin, type TestAdmin } from "./rig/admin.ts";
import type { TestOperation } from "./rig/operations.ts";
import { casesOf } from "../../../../test/cases.ts";

/** The first start of PGlite takes seconds, more on a busy machine. */
const timeout = 120_000;

describe("any request that the document allows, and many that it does not", { timeout }, () => {
  it("gets an answer that the document names, as a problem where it is refused, and never a bug", async () => {
    await expectSoundAnswers(
      await testAdmin({ file: fileOf, impatient: true }),
      casesOf(100, 2_000),
    );
  });

  it("makes no real database choke, wherever a list is to go on from", async () => {
    await using pglite = await testDatabase();
    const store = drizzleStore(pglite.database, { clock: virtualHost(1).clock });
    const admin = await testAdmin({ store, file: fileOf, impatient: true });
    await expectSoundAnswers(admin, casesOf(20, 400));
    const lists = admin.operations.filter(({ template }) => pagedLists.test(template));
    expect(lists).toHaveLength(8);
    const property = fc.asyncProperty(
      fc.constantFrom(...lists),
      anyCursor,
      async (list, cursor) => {
        const { status } = await admin.ask("GET", `${list.template}?cursor=${cursor}`);
        // 501, where the document names it: what this process has no part for.
        if (status >= 500 && status !== 501) throw new Error(`${list.template}: ${status}`);
      },
    );
    await fc.assert(property, { numRuns: casesOf(20, 400) });
  });
});

const pagedLists =
  /^\/admin\/(users|sessions|workers|queries|query-conflicts|audit|revisions|clusters)$/;

/** Keys in the shapes that cursors have, with any value. */
const anyText = fc.string({ unit: "binary" });
const anyCursor = fc
  .oneof(
    fc.tuple(fc.maxSafeInteger(), anyText),
    fc.tuple(fc.maxSafeInteger(), fc.maxSafeInteger()),
    fc.tuple(anyText, anyText),
    fc.tuple(anyText),
    fc.tuple(fc.double(), anyText),
  )
  .map((key) => Buffer.from(JSON.stringify(key)).toString("base64url"));

async function expectSoundAnswers(
  { ask, host, operations }: TestAdmin,
  numRuns: number,
): Promise<void> {
  // A stream goes on until its reader leaves; live.test.ts reads it.
  const ending = operations.filter(({ template }) => template !== "/admin/events");
  const anyRequest = fc.constantFrom(...ending).chain(requestTo);
  const property = fc.asyncProperty(anyRequest, async ({ operation, path, ...request }) => {
    // `ask` fails for an answer that is not documented, no problem, or holds a secret.
    const { status } = await ask(operation.method, path, request);
    // 501, where the document names it: what this process has no part for.
    if (status >= 500 && status !== 501) throw new Error(`${operation.method} ${path}: ${status}`);
    if (host.log.bugs.length > 0) throw host.log.bugs[0];
  });
  await fc.assert(property, { numRuns });
}

/** Words that mean something to some route, so that a guess gets past its first check. */
const word = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom("duck", "all", "auth", "history", "routing", "new") },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "host",
      "diff",
      "running",
      "1767225600.1",
      "1767225600.2",
      "0.0",
      "0".repeat(64),
      "constructor",
      "__proto__",
      "..",
      "a%2Fb",
      "%00",
      "%ff",
    ),
  },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 20 }).map(encoded) },
);

const parameter = fc.tuple(
  fc.constantFrom(
    "limit",
    "cursor",
    "from",
    "to",
    "user",
    "status",
    "group",
    "by",
    "target",
    "odd",
  ),
  fc.oneof(word, fc.string(), fc.nat().map(String)),
);

const headers = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 4 }).map((version) => ({ "if-match": `"${version}"` })) },
  { weight: 4, arbitrary: fc.constant({ "if-none-match": "*" }) },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        "if-match": fc.constantFrom("*", 'W/"1"', '"1", "2"', "1"),
        "if-none-match": fc.constantFrom("*", '"1"'),
        "sec-fetch-site": fc.constantFrom("same-origin", "cross-site"),
        "content-type": fc.constantFrom("text/plain", "application/json; charset=utf-8", ""),
      },
      { requiredKeys: [] },
    ),
  },
);

const secretText = fc.oneof(
  fc.string(),
  fc.constantFrom({ set: true }, { secretRef: "env:GATEWAY_SECRET_X" }, { secretRef: "env:X" }),
);
const duck = fc.record(
  { engine: fc.constant("duckDb"), poolSize: fc.integer({ min: 1, max: 9 }) },
  { requiredKeys: ["engine"] },
);
const group = fc.record({ members: fc.constant(["duck"]), maxRunningQueries: fc.nat(5) });
const routing = fc.record(
  {
    routers: fc.array(
      fc.record({
        type: fc.constant("header"),
        headerName: fc.string(),
        headerValueToGroup: fc.dictionary(fc.string(), fc.constant("all")),
      }),
    ),
    routingFallback: fc.constantFrom("all", "nowhere"),
  },
  { requiredKeys: [] },
);
const setting = fc.oneof(
  fc.record({ provider: fc.constant("none") }),
  fc.record({
    provider: fc.constant("static"),
    staticUsers: fc.record({
      users: fc.dictionary(fc.string(), fc.record({ passwordHash: secretText })),
    }),
  }),
  fc.record({ redaction: fc.constant("metadata"), auth: fc.record({ bearer: secretText }) }),
);
const file = fc.oneof(
  fc.constant(fileOf),
  fc.record(
    {
      clusters: fc.dictionary(fc.constantFrom("duck", "new", "__proto__", "a b"), duck),
      clusterGroups: fc.dictionary(fc.constantFrom("all", "new"), group),
      routers: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 1 }),
      auth: setting,
      gateway: fc.jsonValue({ maxDepth: 3 }),
    },
    { requiredKeys: [] },
  ),
);
const user = { name: word, password: fc.string({ minLength: 10, maxLength: 74 }) };

/** Bodies near what a route takes, by the last word of its path. */
const near: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  clusters: duck,
  groups: group,
  routing,
  settings: setting,
  users: fc.record(
    { role: fc.constantFrom(...adminRoles), password: user.password, disabled: fc.boolean() },
    { requiredKeys: ["role"] },
  ),
  import: file,
  compare: file,
  validate: fc.oneof(
    fc.record({ file }),
    fc.record({
      kind: fc.constantFrom("cluster", "clusterGroup", "routing", "setting", "script"),
      name: fc.constantFrom("duck", "all", "routing", "auth", "new"),
      body: fc.oneof(duck, group, routing, setting, fc.jsonValue()),
    }),
  ),
  "route-explain": fc.record(
    { sql: fc.string({ unit: "binary" }), groups: fc.array(fc.string()), user: fc.string() },
    { requiredKeys: ["sql"] },
  ),
  login: fc.record(user),
  setup: fc.record({ ...user, token: fc.string() }),
};

function requestTo(operation: TestOperation) {
  const literal =
    operation.template
      .replaceAll(/\/\{\w+\}/g, "")
      .split("/")
      .at(-1) ?? "";
  const good = (near[literal] ?? fc.constant({})).map((value) => JSON.stringify(value));
  const body = fc.oneof(
    { weight: 6, arbitrary: good },
    { weight: 2, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string() },
  );
  const places = fc.array(word, { minLength: 2, maxLength: 2 });
  const path = fc
    .tuple(places, fc.array(parameter, { maxLength: 2 }))
    .map(([[name = ""], query]) => {
      const text = new URLSearchParams(query).toString();
      return `${operation.path(() => name)}${text === "" ? "" : `?${text}`}`;
    });
  return fc.record({
    operation: fc.constant(operation),
    path,
    as: fc.oneof(
      { weight: 8, arbitrary: fc.constant("admin" as const) },
      { weight: 1, arbitrary: fc.constantFrom("viewer" as const, "operator" as const, null) },
    ),
    headers,
    ...(operation.method === "GET" ? {} : { body }),
  });
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()) || "x";
}
