import { describe, expect, it } from "vitest";
import { opened } from "./rig/server.ts";
import { numbers, resultOf } from "./rig/trino.ts";

const tagged = {
  "user-agent": "StatementClientV1/476",
  "x-trino-client-tags": "a:1,a:2, b",
  "x-trino-source": "tests",
};

describe("GET of a query", () => {
  it("tells its owner what the client said of itself, also when it ended with its POST", async () => {
    const server = await opened({ answers: { few: resultOf(numbers, [[1n]]) } });
    const answers = await server.follow("few", tagged);
    const path = `/v1/query/${answers[0]?.results.id}`;
    expect(answers).toHaveLength(1);
    expect(await (await server.ask(path)).json()).toMatchObject({
      state: "FINISHED",
      query: "few",
      session: { user: "alice", source: "tests", clientTags: ["a:1", "a:2", "b"] },
    });
    expect((await server.ask(path, { headers: { "x-trino-user": "bob" } })).status).toBe(404);
  });

  it("forgets the oldest of many that ended", async () => {
    const server = await opened({ answers: { few: resultOf(numbers, [[1n]]) } });
    const [first] = await server.follow("few", tagged);
    for (let more = 0; more < 128; more += 1) await server.follow("few", tagged);
    expect((await server.ask(`/v1/query/${first?.results.id}`)).status).toBe(404);
  });

  it("lists a user's own queries, by their states too", async () => {
    const server = await opened({ answers: { "SELECT 1": resultOf(numbers, []) } });
    const ofBob = { "x-trino-user": "bob" };
    for (const headers of [{}, ofBob, {}]) await server.follow("SELECT 1", headers);
    const failed = await server.follow("SELECT 2");
    const listed = async (path: string, headers = {}) => {
      const answer = await server.ask(path, { headers });
      return (await answer.json()) as { queryId: string; query: string; self: string }[];
    };
    const own = await listed("/v1/query");
    expect(own.map(({ query }) => query).toSorted()).toEqual(["SELECT 1", "SELECT 1", "SELECT 2"]);
    expect(await listed("/v1/query", ofBob)).toHaveLength(1);
    const id = failed.at(-1)?.results.id;
    const [only, ...others] = await listed("/v1/query?state=failed");
    expect([only?.queryId, others]).toEqual([id, []]);
    expect((await server.ask(new URL(only?.self ?? "").pathname)).status).toBe(200);
    expect((await server.ask("/v1/query", { method: "DELETE" })).status).toBe(405);
  });
});

describe("a tag by which the gateway knows its own statements", () => {
  it("is refused with the request that carries it, before anything runs", async () => {
    const server = await opened({ answers: { few: resultOf(numbers, [[1n]]) } });
    const headers = { ...tagged, "x-trino-client-tags": "x, gateway/a/b/c" };
    const response = await server.ask("/v1/statement", { sql: "few", headers });
    expect(response.status).toBe(400);
    expect(server.door.queries).toEqual([]);
  });
});
