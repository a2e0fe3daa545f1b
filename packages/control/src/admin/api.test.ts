import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { describe, expect, it } from "vitest";
import { memoryStore } from "../store/memory.ts";
import { adminRoles } from "../store/store.ts";
import { adminApi } from "./api.ts";
import { allows } from "./auth/admin.ts";
import { canary, fileOf, fleetSecret, testAdmin } from "./rig/admin.ts";

/** What nobody has to log in for. */
const open = [
  "GET /admin/setup",
  "GET /admin/sign-on",
  "GET /admin/sign-on/link",
  "GET /admin/sign-on/oidc",
  "GET /admin/sign-on/oidc/callback",
  "POST /admin/login",
  "POST /admin/setup",
];

describe("the admin API", () => {
  it("refuses anonymous callers, bearers and the fleet secret on every route that its document names, except those that log in", async () => {
    const { operations, ask } = await testAdmin({ file: fileOf });
    const letIn: string[] = [];
    for (const { method, template, path } of operations) {
      const headers = [{}, { authorization: `Bearer ${fleetSecret}` }];
      for (const header of headers) {
        const at = path(placeOf);
        const body = method === "GET" ? {} : { json: {} };
        const response = await ask(method, at, { as: null, headers: header, ...body });
        if (response.status !== 401) letIn.push(`${method} ${template}`);
      }
    }
    expect(operations.length).toBeGreaterThan(40);
    expect([...new Set(letIn)].toSorted()).toEqual(open);
  });

  it("refuses on every route each role that is too weak, and no other", async () => {
    const { operations, ask } = await testAdmin({ file: fileOf });
    const tried = new Set<string>();
    for (const { method, role: needed, path, hasBody } of operations) {
      if (needed === undefined) continue;
      for (const role of adminRoles) {
        const at = path(placeOf);
        const response = await ask(method, at, { as: role, ...(hasBody ? { json: [] } : {}) });
        const forbidden = response.status === 403;
        expect([method, at, role, forbidden]).toEqual([
          method,
          at,
          role,
          !allows(role, needed as (typeof adminRoles)[number]),
        ]);
        tried.add(`${needed} ${role}`);
      }
    }
    expect(tried.size).toBe(9);
  });

  it("gives no write to a viewer, and no user, session or audit row to an operator", async () => {
    const { operations } = await testAdmin();
    const viewersWrites = operations.filter(
      ({ method, role }) => role === "viewer" && method !== "GET",
    );
    expect(viewersWrites.map(({ template }) => template)).toEqual(["/admin/logout"]);
    const ofAdmins = operations.filter(({ template }) => /users|sessions|audit/.test(template));
    expect(new Set(ofAdmins.map(({ role }) => role))).toEqual(new Set(["admin"]));
  });

  it("answers a path that does not exist, and one in a form that nobody can read, with a problem", async () => {
    const { ask } = await testAdmin();
    expect((await ask("GET", "/admin/nothing")).status).toBe(404);
    expect((await ask("GET", "/nothing")).status).toBe(404);
    expect((await ask("PATCH", "/admin/status")).status).toBe(404);
    expect((await ask("GET", "/admin/clusters/%ff%00")).status).toBe(400);
  });

  it("answers a bug with 500 that says nothing foreign, and logs it", async () => {
    const explainRoute = () => Promise.reject(new Error(`broken by ${canary}`));
    const { json, host } = await testAdmin({ deps: { explainRoute } });
    const answer = await json("POST", "/admin/route-explain", { json: { sql: "select 1" } });
    expect(answer.status).toBe(500);
    expect(answer.body["code"]).toBe("internal");
    expect(host.log.bugs).toHaveLength(1);
  });

  it("has no worker API unless it is told the secrets of one", async () => {
    const { app } = await testAdmin({ deps: { workerApi: undefined } });
    const headers = { authorization: `Bearer ${fleetSecret}` };
    const response = await app.request("/worker/config", { headers });
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
  });

  it("reads what another replica wrote, in a function where nothing runs between requests", async () => {
    const store = memoryStore(virtualHost(1).clock);
    const container = await testAdmin({ store });
    const inFunction = await testAdmin({ store, deps: { host: "function" } });
    const creating = { headers: { "if-none-match": "*" }, json: { engine: "duckDb" } };
    expect((await container.ask("PUT", "/admin/clusters/duck", creating)).status).toBe(201);
    expect((await inFunction.ask("GET", "/admin/clusters/duck")).status).toBe(200);
  });

  it("takes no admin for a worker", async () => {
    const { ask } = await testAdmin();
    expect((await ask("GET", "/worker/config")).status).toBe(401);
  });

  it("sets on each answer the headers that keep it out of caches and pages", async () => {
    const { ask } = await testAdmin();
    for (const path of ["/admin/status", "/admin/nothing", "/openapi.json"]) {
      const { headers } = await ask("GET", path);
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toBe(
        "default-src 'none'; frame-ancestors 'none'",
      );
    }
  });
});

describe("the OpenAPI document", () => {
  it("is served to everybody, and every reference in it leads somewhere", async () => {
    const { app } = await testAdmin();
    const text = await (await app.request("/openapi.json")).text();
    const document: unknown = JSON.parse(text);
    expect(document).toMatchObject({ openapi: "3.1.0" });
    const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? "");
    expect(references.length).toBeGreaterThan(0);
    for (const path of new Set(references)) {
      expect([path, partOf(document, path.split("/"))]).toEqual([path, expect.anything()]);
    }
  });

  it("names every route that there is", async () => {
    const { deps, operations } = await testAdmin();
    const routes = new Set(
      adminApi(deps)
        .routes.filter(({ method }) => method !== "ALL")
        .map(({ path, method }) => `${method} /admin${path.replaceAll(/:(\w+)/g, "{$1}")}`),
    );
    const named = operations.map(({ method, template }) => `${method} ${template}`);
    expect([...routes].toSorted()).toEqual(named.toSorted());
  });
});

function placeOf(place: string): string {
  if (place === "position") return "1.1";
  return place === "id" ? "0".repeat(64) : "auth";
}

function partOf(value: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined) return value;
  return partOf((value as Readonly<Record<string, unknown>> | undefined)?.[first], rest);
}
