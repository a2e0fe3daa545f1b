import { describe, expect, it } from "vitest";
import { canary, fileOf, testAdmin, type TestAdmin } from "../rig/admin.ts";

const duck = { engine: "duckDb" };
const creating = { headers: { "if-none-match": "*" } };

describe("objects of the configuration", () => {
  it("creates, reads, replaces and deletes by version", async () => {
    const { json, ask } = await testAdmin();
    const made = await json("PUT", "/admin/clusters/duck", { ...creating, json: duck });
    expect(made.status).toBe(201);
    expect(made.headers.get("location")).toBe("/admin/clusters/duck");
    expect(made.headers.get("etag")).toBe('"1"');
    expect(made.body).toMatchObject({ name: "duck", version: 1, changed: true, body: duck });
    expect(made.body["revision"]).toMatch(/^\d+\.1\.sha256:[0-9a-f]{64}$/);

    const read = await json("GET", "/admin/clusters/duck", { as: "viewer" });
    expect(read.headers.get("etag")).toBe('"1"');
    const match = { "if-match": read.headers.get("etag") ?? "" };
    const next = { ...duck, poolSize: 3 };
    const put = await json("PUT", "/admin/clusters/duck", { headers: match, json: next });
    expect([put.status, put.headers.get("etag")]).toEqual([200, '"2"']);

    const late = await json("DELETE", "/admin/clusters/duck", { headers: match });
    expect([late.status, late.body["current"]]).toEqual([412, 2]);
    const gone = await ask("DELETE", "/admin/clusters/duck", { headers: { "if-match": '"2"' } });
    expect(gone.status).toBe(200);
    expect((await ask("GET", "/admin/clusters/duck")).status).toBe(404);
  });

  it("refuses a write that does not say what it believes is there", async () => {
    const { json } = await testAdmin({ file: fileOf });
    const put = async (headers: Readonly<Record<string, string>>) =>
      (await json("PUT", "/admin/clusters/duck", { headers, json: duck })).status;
    expect(await put({})).toBe(428);
    expect(await put({ "if-match": "*" })).toBe(400);
    expect(await put({ "if-match": '"1", "2"' })).toBe(400);
    expect(await put({ "if-match": 'W/"1"' })).toBe(400);
    expect(await put({ "if-match": '"1"', "if-none-match": "*" })).toBe(400);
    expect(await put({ "if-none-match": '"1"' })).toBe(400);
    expect(await put({ "if-none-match": "*" })).toBe(412);
    expect(await put({ "if-match": '"7"' })).toBe(412);
    expect((await json("DELETE", "/admin/clusters/duck")).status).toBe(428);
    const missing = { headers: { "if-match": '"1"' } };
    expect((await json("PUT", "/admin/clusters/new", { ...missing, json: duck })).body).toEqual(
      expect.objectContaining({ status: 412, code: "lostUpdate", current: null }),
    );
  });

  it("names every path that is wrong, and writes nothing", async () => {
    const { json, deps } = await testAdmin({ file: fileOf });
    const before = deps.config.current()?.revision;
    const wrong = { members: [], maxRunningQueries: 0, unknown: 1 };
    const answer = await json("PUT", "/admin/groups/new", { ...creating, json: wrong });
    expect(answer.status).toBe(422);
    const paths = (answer.body["faults"] as { path: string }[]).map(({ path }) => path);
    expect(paths.toSorted()).toEqual([
      "clusterGroups.new.maxRunningQueries",
      "clusterGroups.new.members",
      "clusterGroups.new.unknown",
    ]);
    expect(deps.config.current()?.revision).toEqual(before);
  });

  it("refuses a reference to what does not exist, and to delete what others name", async () => {
    const { json } = await testAdmin({ file: fileOf });
    const group = { members: ["nowhere"], maxRunningQueries: 1 };
    expect((await json("PUT", "/admin/groups/new", { ...creating, json: group })).status).toBe(422);
    const match = { headers: { "if-match": '"1"' } };
    expect((await json("DELETE", "/admin/clusters/duck", match)).status).toBe(422);
  });

  it("judges guard rails with the groups that they name, and keeps them", async () => {
    const { json } = await testAdmin({ file: fileOf });
    const put = (guard: object) =>
      json("PUT", "/admin/settings/guardrails", { ...creating, json: { guards: [guard] } });
    const reads = { name: "reads", type: "readOnly" };
    const lost = await put({ ...reads, clusterGroups: ["gone"] });
    expect(lost.status).toBe(422);
    expect(JSON.stringify(lost.body["faults"])).toContain("guardrails.guards[0].clusterGroups[0]");
    const bare = { name: "hook", type: "webhook", url: "http://guards.internal/" };
    const open = await put({ ...bare, credentials: { bearer: "secret" } });
    expect(JSON.stringify(open.body["faults"])).toContain("must be https");
    expect((await put({ ...bare, rewrites: true })).body["faults"]).toMatchObject([
      { path: "guardrails.guards[0].rewrites" },
    ]);
    const neither = await put({ name: "kinds", type: "statementKinds" });
    expect(JSON.stringify(neither.body["faults"])).toContain("either allow or deny is required");
    expect((await put(reads)).status).toBe(201);
    const kept = await json("GET", "/admin/settings/guardrails", { as: "viewer" });
    expect(kept.body).toMatchObject({ body: { guards: [reads] } });
  });

  it("refuses a setting that no process could read, and says where", async () => {
    const { json } = await testAdmin();
    const path = "/admin/settings/catalogProvider";
    const answer = await json("PUT", path, { ...creating, json: { provider: "another" } });
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body["faults"])).toContain("catalogProvider.provider");
    expect((await json("GET", "/admin/settings/nothing")).status).toBe(400);
  });

  it("keeps routers and fallback in one document", async () => {
    const { json } = await testAdmin({ file: fileOf });
    const read = await json("GET", "/admin/routing");
    const body = { routers: fileOf.routers, routingFallback: "all" };
    expect(read.body["body"]).toEqual(body);
    const match = { headers: { "if-match": read.headers.get("etag") ?? "" } };
    const put = await json("PUT", "/admin/routing", { ...match, json: { routingFallback: "all" } });
    expect([put.status, put.headers.get("location")]).toEqual([200, "/admin/routing"]);
    const gone = await json("DELETE", "/admin/routing", { headers: { "if-match": '"2"' } });
    expect(gone.status).toBe(200);
    expect((await json("GET", "/admin/routing")).status).toBe(404);
  });

  it("pages a list by name, each object once", async () => {
    const admin = await testAdmin();
    const names = ["c", "a", "e", "b", "d"];
    for (const name of names) {
      await admin.ask("PUT", `/admin/clusters/${name}`, { ...creating, json: duck });
    }
    expect(await namesOf(admin, "/admin/clusters?limit=2")).toEqual(["a", "b", "c", "d", "e"]);
    for (const bad of ["limit=0", "limit=1001", "limit=x", "cursor=%25", "cursor=YQ", "limt=1"]) {
      expect((await admin.ask("GET", `/admin/clusters?${bad}`)).status).toBe(400);
    }
  });

  it("takes no body that is too large, no JSON, or not called JSON", async () => {
    const { ask } = await testAdmin();
    const put = async (body: string, headers: Readonly<Record<string, string>> = {}) =>
      (
        await ask("PUT", "/admin/clusters/a", {
          body,
          headers: { "if-none-match": "*", ...headers },
        })
      ).status;
    expect(await put(`"${"x".repeat(1_048_577)}"`)).toBe(413);
    expect(await put("{}", { "content-length": "9999999" })).toBe(413);
    expect(await put("{")).toBe(400);
    expect(await put(`${"[".repeat(100)}${"]".repeat(100)}`)).toBe(400);
    expect(await put('"\\u0000"')).toBe(400);
    expect(await put("{}", { "content-type": "text/plain" })).toBe(415);
    const large = { body: `{"x":"${"x".repeat(2_000_000)}"}` };
    expect((await ask("POST", "/admin/config/import", large)).status).toBe(422);
  });
});

describe("secrets of the configuration", () => {
  it("go in and never come out: in no answer, no refusal, no difference and no audit row", async () => {
    const { json, ask, operations } = await testAdmin({ file: fileOf });
    // `ask` refuses every answer that holds the canary.
    for (const { method, template, path } of operations) {
      if (method !== "GET") continue;
      for (const name of ["auth", "history"]) {
        const at = path(() => name);
        await ask(method, template.includes("diff") ? `${at}?from=1.1&to=1.2` : at);
      }
    }
    const history = await json("GET", "/admin/settings/history");
    expect(history.body["body"]).toMatchObject({ auth: { bearer: { set: true } } });
    const changed = { auth: { bearer: `${canary}-other` } };
    const match = { headers: { "if-match": '"1"' } };
    await json("PUT", "/admin/settings/history", { ...match, json: changed });
    const wrong = { auth: { bearer: [canary] }, redaction: canary };
    const matched = { headers: { "if-match": '"2"' } };
    const refused = await json("PUT", "/admin/settings/history", { ...matched, json: wrong });
    expect(refused.status).toBe(422);
    await json("POST", "/admin/validate", { json: { file: { auth: { provider: canary } } } });
    await json("POST", "/admin/config/compare", { json: fileOf });
    await json("POST", "/admin/config/import", { json: fileOf });
    const { items } = (await json("GET", "/admin/revisions")).body as { items: Position[] };
    const [to, from] = items;
    const span = `from=${from?.epoch}.${from?.sequence}&to=${to?.epoch}.${to?.sequence}`;
    const diff = await json("GET", `/admin/revisions/diff?${span}`);
    expect(diff.body["items"]).not.toEqual([]);
    expect((await json("GET", "/admin/audit")).body["items"]).not.toEqual([]);
  });

  it("stay what they are when they are sent back as they were shown", async () => {
    const { json, deps } = await testAdmin({ file: fileOf });
    const before = deps.config.current()?.revision;
    const read = await json("GET", "/admin/settings/history");
    const put = await json("PUT", "/admin/settings/history", {
      headers: { "if-match": '"1"' },
      json: read.body["body"],
    });
    expect(put.body["changed"]).toBe(false);
    const file = (await json("GET", "/admin/config/export")).body;
    const imported = await json("POST", "/admin/config/import", { json: file });
    expect(imported.body["changed"]).toBe(false);
    expect(deps.config.current()?.revision).toEqual(before);
  });
});

interface Position {
  readonly epoch: number;
  readonly sequence: number;
}

/** Every name of a list, page after page. */
async function namesOf({ json }: TestAdmin, first: string): Promise<readonly string[]> {
  const names: string[] = [];
  let path: string | undefined = first;
  while (path !== undefined) {
    const page: Awaited<ReturnType<typeof json>> = await json("GET", path);
    const { items, nextCursor } = page.body as { items: { name: string }[]; nextCursor?: string };
    names.push(...items.map(({ name }) => name));
    path = nextCursor === undefined ? undefined : `${first}&cursor=${nextCursor}`;
  }
  return names;
}
