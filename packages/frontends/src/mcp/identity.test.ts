import { describe, expect, it } from "vitest";
import { answers, waitForAbort } from "../rig/answers.ts";
import { ended, ranOf, runs } from "../rig/wait.ts";
import {
  basicOf,
  call,
  callOf,
  clientOf,
  initialize,
  opened,
  type TestServer,
} from "./rig/server.ts";

const passwords = { ann: "right horse", bob: "battery" };
const ann = basicOf("ann", passwords.ann);
const bob = basicOf("bob", passwords.bob);

describe("a session", () => {
  it("is asked for its credential with every message", async () => {
    const server = await opened({ answers, passwords });
    const session = await begin(server, ann);
    expect((await server.post(callOf("list_catalogs", {}), session)).status).toBe(401);
    expect((await server.post(callOf("list_catalogs", {}), { ...ann, ...session })).status).toBe(
      200,
    );
  });

  it("is refused when it is another user's, forged or old, all in the same words", async () => {
    const server = await opened({ answers, passwords });
    const session = await begin(server, ann);
    const id = session["mcp-session-id"] ?? "";
    const refused = async (headers: Readonly<Record<string, string>>) => {
      const answer = await server.post(callOf("execute_query", { sql: "SELECT 1" }), headers);
      return [answer.status, await answer.text()];
    };
    const foreign = await refused({ ...bob, ...session });
    expect(foreign[0]).toBe(404);
    expect(await refused({ ...ann, "mcp-session-id": "x" })).toEqual(foreign);
    expect(await refused({ ...ann, "mcp-session-id": `${id.slice(0, -2)}AA` })).toEqual(foreign);
    server.later(25 * 3_600_000);
    expect(await refused({ ...ann, ...session })).toEqual(foreign);
    expect(server.door.queries).toEqual([]);
  });

  it("is not needed, and says nothing of its user", async () => {
    const server = await opened({ answers, passwords });
    const session = await begin(server, ann);
    const token = Buffer.from(session["mcp-session-id"] ?? "", "base64url").toString("latin1");
    expect(token).not.toContain("ann");
    expect((await server.post(callOf("execute_query", { sql: "SELECT 1" }), bob)).status).toBe(200);
    expect(server.door.queries.at(-1)?.session.identity.user).toBe("bob");
  });
});

describe("a handle", () => {
  it("opens for its user alone, and tells apart only another instance", async () => {
    const server = await opened({ answers: { "SELECT wait": waitForAbort }, passwords });
    const other = await opened({ answers, passwords });
    const client = await server.client("ann", passwords.ann);
    const { told } = await call(client, "execute_query", { sql: "SELECT wait", waitSecs: 0 });
    const handle = told.handle ?? "";
    const codeOf = async (
      of: TestServer,
      headers: Readonly<Record<string, string>>,
      text: string,
    ) => {
      const asking = await clientOf(of.url, headers);
      const asked = { handle: text, waitSecs: 0 };
      const status = await call(asking, "get_query_status", asked);
      const cancel = await call(asking, "cancel_query", { handle: text });
      expect(cancel.told.error?.code).toBe(status.told.error?.code);
      return status.told.error?.code;
    };
    expect(await codeOf(server, bob, handle)).toBe("query.unknown");
    expect(await codeOf(server, ann, changedIn(handle, handle.length - 4))).toBe("query.unknown");
    expect(await codeOf(server, ann, "nonsense")).toBe("query.unknown");
    expect(await codeOf(other, ann, handle)).toBe("query.elsewhere");
    const status = await call(client, "get_query_status", { handle, waitSecs: 0 });
    expect(status.told.error).toBeUndefined();
    server.later(25 * 3_600_000);
    expect(await codeOf(server, ann, handle)).toBe("query.unknown");
  });

  it("of a past answer leads nowhere", async () => {
    const client = await (await opened({ answers })).client();
    const page = { maxRows: 100 };
    const asked = { sql: "SELECT batches", keepOpen: true, ...page };
    const first = (await call(client, "execute_query", asked)).told.handle;
    const second = (await call(client, "get_query_status", { handle: first, ...page })).told.handle;
    await call(client, "get_query_status", { handle: second, ...page });
    const past = await call(client, "get_query_status", { handle: first, ...page });
    expect(past.told.error?.code).toBe("query.unknown");
  });
});

describe("notifications/cancelled", () => {
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } };

  it("ends the call of its session, and no other with the same id", async () => {
    const server = await opened({
      answers: { ...answers, "SELECT wait": waitForAbort },
      passwords,
    });
    const [first, second, foreign] = [
      await begin(server, ann),
      await begin(server, ann),
      await begin(server, bob),
    ];
    const waiting = server.post(callOf("execute_query", { sql: "SELECT wait" }, 5), {
      ...ann,
      ...first,
    });
    await runs(server.door, "SELECT wait");
    for (const headers of [{ ...ann, ...second }, { ...bob, ...foreign }, ann]) {
      expect((await server.post(cancel, headers)).status).toBe(202);
    }
    expect(server.door.ended).toEqual([]);
    await server.post(cancel, { ...ann, ...first });
    await ended(server.door, "SELECT wait");
    const answer = await waiting;
    expect([answer.status, await answer.text()]).toEqual([202, ""]);
  });

  it("is what the SDK's client sends when it gives up, with progress and without", async () => {
    for (const options of [{}, { onprogress: () => undefined }]) {
      const server = await opened({ answers: { "SELECT wait": waitForAbort } });
      const client = await server.client();
      const giving = new AbortController();
      const waiting = client.callTool(
        { name: "execute_query", arguments: { sql: "SELECT wait" } },
        undefined,
        { ...options, signal: giving.signal },
      );
      await runs(server.door, "SELECT wait");
      giving.abort("enough");
      await expect(waiting).rejects.toThrow("enough");
      await ended(server.door, "SELECT wait");
    }
  });
});

describe("a drain", () => {
  it("lets an agent fetch the rest of what it began, and refuses the rest", async () => {
    const server = await opened({ answers });
    const client = await server.client();
    const asked = { sql: "SELECT batches", keepOpen: true, maxRows: 9_000 };
    const { handle } = (await call(client, "execute_query", asked)).told;
    const drained = server.drain(new AbortController().signal);
    await expect(call(client, "execute_query", { sql: "SELECT 1" })).rejects.toThrow(
      "shutting down",
    );
    const rest = await call(client, "get_query_status", { handle, maxRows: 9_000 });
    expect(rest.told).toMatchObject({ complete: true, firstRow: 9_000 });
    await drained;
    expect(ranOf(server.door.queries, "SELECT 1")).toBe(0);
  });
});

/** The headers of a new session. */
async function begin(
  server: TestServer,
  headers: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const answer = await server.post(initialize, headers);
  return { "mcp-session-id": answer.headers.get("mcp-session-id") ?? "" };
}

/** Another character there. The last one of base64 would not do: some of its bits say nothing. */
function changedIn(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at] === "a" ? "b" : "a"}${text.slice(at + 1)}`;
}
