/** Polls that reach another gateway than the one that has the query. */
import type { QueryResults } from "@gateway/wire/trino/results.ts";
import { describe, expect, it } from "vitest";
import type { Elsewhere } from "../listener/elsewhere.ts";
import { manyBatches, opened, start, untilAborted, type TestServer } from "./rig/server.ts";

describe("a poll of another gateway's query", () => {
  it("is answered by its gateway, wherever each poll arrives", async () => {
    const { servers, at } = await fleetOf({ answers: { many: manyBatches } });
    let next = (await start(servers[0], "many")).nextUri;
    const rows: unknown[] = [];
    for (let poll = 1; next !== undefined; poll += 1) {
      const response = await at(poll, next);
      expect(response.status).toBe(200);
      const { data = [], nextUri } = (await response.json()) as QueryResults;
      rows.push(...data);
      next = nextUri;
    }
    expect(rows).toHaveLength(60_000);
    expect(servers[1].door.queries).toEqual([]);
  });

  it("is judged there: the link of another user leads to no query", async () => {
    const { servers, at } = await fleetOf({ answers: { slow: untilAborted } });
    const { nextUri = "" } = await start(servers[0], "slow");
    const stolen = await at(1, nextUri, { headers: { "x-trino-user": "mallory" } });
    expect([stolen.status, await stolen.text()]).toEqual([404, "There is no such query."]);
    expect(servers[0].door.ended).toEqual([]);
  });

  it("cancels the query by DELETE, and when its client hangs up while it waits", async () => {
    const { servers, at, sentOn } = await fleetOf({ answers: { slow: untilAborted } });
    const first = await start(servers[0], "slow");
    expect((await at(1, first.nextUri ?? "", { method: "DELETE" })).status).toBe(204);
    await servers[0].door.untilEnded(1);
    const second = await start(servers[0], "slow");
    const leaving = new AbortController();
    const asked = at(1, second.nextUri ?? "", { signal: leaving.signal });
    // Only a poll that arrived can hang up.
    await expect.poll(sentOn, patience).toBe(2);
    leaving.abort();
    await expect(asked).rejects.toThrow(/abort/);
    await servers[0].door.untilEnded(2);
  });

  it("is never sent on twice: one that its gateway does not know is gone", async () => {
    const { servers, at } = await fleetOf({ answers: { slow: untilAborted } });
    const { nextUri = "" } = await start(servers[0], "slow");
    // Another process took the address over: its instance is not the one in the link.
    const old = nextUri.replace(/(\/queued\/|\/executing\/)\w+-0\//, "$1000000000000-0/");
    expect(old).not.toBe(nextUri);
    expect((await at(1, old)).status).toBe(404);
  });

  it("is to be tried again while its gateway does not answer", async () => {
    const { servers, at } = await fleetOf({ answers: { slow: untilAborted } }, () => true);
    const { nextUri = "" } = await start(servers[0], "slow");
    const response = await at(1, nextUri);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
  });
});

/** For a busy machine. */
const patience = { timeout: 20_000 };

interface Fleet {
  readonly servers: readonly [TestServer, TestServer];
  readonly at: Ask;
  /** How many requests were sent on. */
  readonly sentOn: () => number;
}

type Ask = (server: number, link: string, init?: RequestInit) => Promise<Response>;

/** Two gateways that find each other; `gone` says that one does not answer. A mark ends with the number of its gateway. */
async function fleetOf(
  script: Parameters<typeof opened>[0],
  gone: () => boolean = () => false,
): Promise<Fleet> {
  let sent = 0;
  const servers: TestServer[] = [];
  const elsewhereOf = (own: number): Elsewhere => ({
    mark: (instance) => `${instance}-${own}`,
    relay: async (mark, frontend, asked) => {
      const owner = servers[Number(mark.split("-")[1])];
      if (owner === undefined || frontend !== "trinoHttp" || gone()) return false;
      owner.relayed(asked);
      sent += 1;
      return true;
    },
  });
  servers.push(await opened(script, {}, {}, elsewhereOf(0)));
  servers.push(await opened(script, {}, {}, elsewhereOf(1)));
  const [first, second] = servers as [TestServer, TestServer];
  return {
    servers: [first, second],
    sentOn: () => sent,
    at: (number, link, init = {}) => {
      const { pathname, search } = new URL(link);
      const to = number % 2 === 0 ? first : second;
      return to.ask(pathname + search, init);
    },
  };
}
