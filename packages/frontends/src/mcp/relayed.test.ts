/** Calls about a query of another gateway: its handle leads there, whoever gets the call. */
import { createServer, request as httpRequest, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { CarriedCall, Carrier, RelayedClient, AskedElsewhere } from "../listener/elsewhere.ts";
import { gateOf, waitForAbort } from "../rig/answers.ts";
import { basicOf, call, clientOf, opened, type TestServer } from "./rig/server.ts";

describe("a call about a query of another gateway", () => {
  it("is answered there, with the rows", async () => {
    const gate = gateOf();
    const [owner, other] = await fleet({ answers: { "SELECT wait": gate.answer } });
    const first = await call(await owner.client("ann"), "execute_query", {
      sql: "SELECT wait",
      waitSecs: 0,
    });
    gate.open();
    const asking = await clientOf(other.url, basicOf("ann"));
    const { told } = await call(asking, "get_query_status", { handle: first.told.handle });
    expect(told.rows).toEqual([[1]]);
    expect(other.door.queries).toEqual([]);
  });

  it("is judged there, and ends it there", async () => {
    const [owner, other] = await fleet({
      answers: { "SELECT wait": waitForAbort },
      passwords: { ann: "secret", bob: "other" },
    });
    const client = await owner.client("ann", "secret");
    const { told } = await call(client, "execute_query", { sql: "SELECT wait", waitSecs: 0 });
    const { handle } = told;
    const bob = await clientOf(other.url, basicOf("bob", "other"));
    expect((await call(bob, "cancel_query", { handle })).told.error?.code).toBe("query.unknown");
    const ann = await clientOf(other.url, basicOf("ann", "secret"));
    expect((await call(ann, "cancel_query", { handle })).told.error).toBeUndefined();
    await owner.door.untilEnded(1);
  });

  it("is told that the query is elsewhere where its gateway is gone", async () => {
    const [owner, other] = await fleet({ answers: { "SELECT wait": waitForAbort } }, () => true);
    const client = await owner.client("ann");
    const { told } = await call(client, "execute_query", { sql: "SELECT wait", waitSecs: 0 });
    const asking = await clientOf(other.url, basicOf("ann"));
    const found = await call(asking, "get_query_status", { handle: told.handle });
    expect(found.told.error?.code).toBe("query.elsewhere");
  });
});

describe("a cancel of a call that another gateway answers", () => {
  it("reaches it over the gateway that began the session", async () => {
    const { runner, other, session } = await threeOf();
    const answer = runner.post(callOf(1), session);
    await runner.door.untilStarted(1);
    await expect
      .poll(async () => {
        await other.post(cancelOf(1), session);
        return runner.door.ended.length;
      })
      .toBe(1);
    expect(await (await answer).text()).toBe("");
  });

  it("reaches it also when it came first", async () => {
    const { runner, other, session } = await threeOf();
    await other.post(cancelOf(2), session);
    const answer = runner.post(callOf(2), session);
    await runner.door.untilEnded(1);
    expect(await (await answer).text()).toBe("");
  });

  it("reaches it over its home itself, and no call of another session", async () => {
    const { home, runner, session } = await threeOf();
    const foreign = await beganAt(home);
    const answer = runner.post(callOf(3), session);
    await runner.door.untilStarted(1);
    await home.post(cancelOf(3), foreign);
    expect(runner.door.ended).toEqual([]);
    await home.post(cancelOf(3), session);
    await runner.door.untilEnded(1);
    expect(await (await answer).text()).toBe("");
  });
});

/** A session that began at `home`, for whose calls the others stand. */
async function threeOf() {
  const [home, runner, other] = await fleet({ answers: { "SELECT wait": waitForAbort } });
  return { home, runner, other, session: await beganAt(home) };
}

async function beganAt(server: TestServer) {
  const headers = { ...basicOf("ann"), accept: "application/json, text/event-stream" };
  const params = {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "tester", version: "1" },
  };
  const begun = await server.post({ jsonrpc: "2.0", id: 0, method: "initialize", params }, headers);
  return { ...headers, "mcp-session-id": begun.headers.get("mcp-session-id") ?? "" };
}

function callOf(id: number) {
  const params = { name: "execute_query", arguments: { sql: "SELECT wait" } };
  return { jsonrpc: "2.0", id, method: "tools/call", params };
}

function cancelOf(requestId: number) {
  return { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } };
}

const listeners: Server[] = [];
afterEach(() => {
  for (const listener of listeners.splice(0)) {
    listener.closeAllConnections();
    listener.close();
  }
});

/** Three gateways that find each other; a mark ends with the number of its gateway. */
async function fleet(
  script: Parameters<typeof opened>[0],
  gone: () => boolean = () => false,
): Promise<readonly [TestServer, TestServer, TestServer]> {
  const servers: TestServer[] = [];
  const elsewhereOf = (own: number): Carrier => ({
    mark: (instance) => `${instance}-${own}`,
    relay: async (mark, frontend, asked) => {
      const owner = servers[Number(mark.split("-")[1])];
      if (owner === undefined || frontend !== "mcp" || gone()) return false;
      return sentTo(owner, asked);
    },
    carry: async (mark, frontend, carried) => {
      const owner = servers[Number(mark.split("-")[1])];
      if (owner === undefined || frontend !== "mcp" || gone()) return undefined;
      return carriedTo(owner, carried);
    },
  });
  for (const own of [0, 1, 2]) servers.push(await opened(script, {}, elsewhereOf(own)));
  return servers as unknown as readonly [TestServer, TestServer, TestServer];
}

/** As the relay does: the request once more, over a connection of its own. */
async function sentTo(owner: TestServer, { request, response, client, body }: AskedElsewhere) {
  const port = await listening(owner, client);
  return new Promise<boolean>((resolve) => {
    const { method, url, headers } = request;
    const options = { host: "127.0.0.1", port, method, path: url, headers };
    const sent = httpRequest(options, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.rawHeaders);
      answer.on("data", (bytes: Buffer) => void response.write(bytes));
      answer.once("end", () => void response.end());
      resolve(true);
    });
    sent.end(body);
  });
}

async function carriedTo(owner: TestServer, { path, headers, client }: CarriedCall) {
  const port = await listening(owner, client);
  return new Promise<IncomingMessage>((resolve, reject) => {
    const options = { host: "127.0.0.1", port, method: "POST", path };
    const own = ["host", "gateway", ...headers] as never;
    httpRequest({ ...options, headers: own }, resolve)
      .on("error", reject)
      .end();
  });
}

function listening(owner: TestServer, client: RelayedClient): Promise<number> {
  const listener = createServer((request, response) => {
    owner.relayed({ request, response, client });
  });
  listeners.push(listener);
  return new Promise((resolve) => {
    listener.listen(0, "127.0.0.1", () => resolve((listener.address() as AddressInfo).port));
  });
}
