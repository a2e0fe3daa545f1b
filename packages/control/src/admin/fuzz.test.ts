import fc from "fast-check";
import { describe, it } from "vitest";
import { adminRoles } from "../store/store.ts";
import { ourPage, fileOf, testAdmin } from "./testAdmin.ts";

/** Words that mean something to some route, so that a guess gets past its first check. */
const words = [
  ...["auth", "history", "duck", "all", "routing", "host", "running", "diff", "w1"],
  ...[
    "1767225600.1",
    "0.0",
    "constructor",
    "__proto__",
    "0".repeat(64),
    "..",
    "a%2Fb",
    "%00",
    "%ff",
  ],
] as const;

describe("any request that the document allows, and many that it does not", () => {
  it("gets an answer that the document names, as a problem where it is refused, and never a bug", async () => {
    const admin = await testAdmin({ file: fileOf, impatient: true });
    const anyRequest = fc.record({
      operation: fc.constantFrom(...admin.operations),
      places: fc.infiniteStream(word),
      query: fc.dictionary(queryKey, fc.oneof(word, fc.string(), fc.nat().map(String)), {
        maxKeys: 4,
      }),
      as: fc.option(fc.constantFrom(...adminRoles), { nil: null, freq: 20 }),
      headers,
      body: bodyOf(),
    });
    const property = fc.asyncProperty(anyRequest, async (request) => {
      const { operation, as } = request;
      const { places } = request;
      const path = operation.path(() => places.next().value ?? "duck");
      const query = new URLSearchParams(request.query).toString();
      const content = operation.method === "GET" ? {} : { body: request.body };
      // `ask` fails for an answer that is not documented, no problem, or holds a secret.
      const response = await admin.ask(operation.method, `${path}?${query}`, {
        as,
        headers: request.headers,
        ...content,
      });
      if (response.status >= 500)
        throw new Error(`${operation.method} ${path}: ${response.status}`);
      if (admin.host.log.bugs.length > 0) throw admin.host.log.bugs[0];
    });
    await fc.assert(property, { numRuns: 400 });
  }, 60_000);
});

const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...words) },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 20 }).map(encoded) },
);

const queryKey = fc.constantFrom(
  ...["limit", "cursor", "from", "to", "user", "status", "group", "by", "target", "odd"],
);

const headers = fc.record(
  {
    "if-match": fc.oneof(
      fc.nat(4).map((n) => `"${n}"`),
      fc.constant("*"),
      fc.constant('W/"1"'),
    ),
    "if-none-match": fc.constant("*"),
    "sec-fetch-site": fc.constantFrom("same-origin", "none"),
    "content-type": fc.constantFrom(ourPage["content-type"], "text/plain"),
  },
  { requiredKeys: [] },
);

/** JSON near what routes take, any JSON, and no JSON. */
function bodyOf(): fc.Arbitrary<string> {
  const secretText = fc.oneof(
    fc.string(),
    fc.constant({ set: true }),
    fc.constant({ secretRef: "env:X" }),
  );
  const near = fc.record(
    {
      engine: fc.constantFrom("duckDb", "trino", "odd"),
      members: fc.array(word),
      maxRunningQueries: fc.integer(),
      routers: fc.array(fc.jsonValue({ maxDepth: 2 })),
      provider: fc.constantFrom("none", "static"),
      staticUsers: fc.record({
        users: fc.dictionary(fc.string(), fc.record({ passwordHash: secretText })),
      }),
      auth: fc.record({ bearer: secretText }),
      role: fc.constantFrom(...adminRoles),
      password: fc.string({ maxLength: 90 }),
      name: word,
      token: fc.string(),
      kind: fc.constantFrom("cluster", "routing", "setting", "script", "odd"),
      body: fc.jsonValue({ maxDepth: 3 }),
      file: fc.jsonValue({ maxDepth: 3 }),
      sql: fc.string({ unit: "binary" }),
      clusters: fc.dictionary(word, fc.record({ engine: fc.constant("duckDb") })),
      __proto__: fc.jsonValue({ maxDepth: 1 }),
    },
    { requiredKeys: [] },
  );
  return fc.oneof(
    { weight: 6, arbitrary: near.map((value) => JSON.stringify(value)) },
    { weight: 3, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string() },
  );
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()) || "x";
}
