/** Calls about a query of another gateway: its handle leads there, whoever gets the call. */
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { Elsewhere, RelayedClient, RelayedRequest } from "../listener/elsewhere.ts";
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

const listeners: Server[] = [];
afterEach(() => {
  for (const listener of listeners.splice(0)) {
    listener.closeAllConnections();
    listener.close();
  }
});

/** Two gateways that find each other; a mark ends with the number of its gateway. */
async function fleet(
  script: Parameters<typeof opened>[0],
  gone: () => boolean = () => false,
): Promise<readonly [TestServer, TestServer]> {
  const servers: TestServer[] = [];
  const elsewhereOf = (own: number): Elsewhere => ({
    mark: (instance) => `${instance}-${own}`,
    relay: async (mark, frontend, asked) => {
      const owner = servers[Number(mark.split("-")[1])];
      if (owner === undefined || frontend !== "mcp" || gone()) return false;
      return sentTo(owner, asked);
    },
  });
  for (const own of [0, 1]) servers.push(await opened(script, {}, elsewhereOf(own)));
  return servers as unknown as readonly [TestServer, TestServer];
}

/** As the relay does: the request once more, over a connection of its own. */
async function sentTo(owner: TestServer, { request, response, client, body }: RelayedRequest) {
  const port = await listening(owner, client);
  return new Promise<boolean>((resolve) => {
    const { method, url, headers } = request;
    const options = { host: "127.0.0.1", port, method, path: url, headers };
    const sent = httpRequest(options, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
      resolve(true);
    });
    sent.end(body);
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
