/** Requests that reach another gateway than the one that has the session, the rows or the statement. */
import { batchOf, columnOf } from "@gateway/core/type/build.ts";
import { describe, expect, it } from "vitest";
import type { Elsewhere } from "../listener/elsewhere.ts";
import { opened, type TestServer } from "./rig/server.ts";

const n = [columnOf("n", { kind: "text" })];
const rows = Array.from({ length: 200 }, () => ["x".repeat(4_000)]);
const many = [
  { kind: "columns", columns: n },
  { kind: "batch", batch: batchOf(n, rows.slice(0, 10)) },
  { kind: "batch", batch: batchOf(n, rows.slice(10)) },
  { kind: "done", stats: { queueMs: 0, executionMs: 0, rows: 200, bytes: 800_000 } },
] as const;
const query = "/queries/v1/query-request?requestId=r1";

describe("any gateway of a fleet", () => {
  it("answers for a session of another, and gives the rows that lie there", async () => {
    const [owner, other] = await fleet();
    const { token } = await owner.logIn();
    const { data } = await other.post(query, { sqlText: "many" }, token);
    expect(data.total).toBe(200);
    const [{ url, rowCount }] = data.chunks;
    const path = new URL(url).pathname;
    const text = await (await fetch(other.url + path)).text();
    expect(JSON.parse(`[${text}]`)).toHaveLength(rowCount);
    expect(other.door.queries).toEqual([]);
    expect((await other.post("/session?delete=true", {}, token)).success).toBe(true);
    expect((await owner.post(query, { sqlText: "many" }, token)).code).toBe("390111");
  });

  it("renews such a session, and answers for a statement of the SQL API", async () => {
    const [owner, other] = await fleet();
    const { masterToken } = await owner.logIn();
    const renewed = await other.post("/session/token-request", {}, masterToken);
    expect(renewed.success).toBe(true);
    const begun = await owner.post("/api/v2/statements?async=true", { statement: "many" });
    const { statementStatusUrl } = begun as unknown as { statementStatusUrl: string };
    // 202 as long as its rows are on their way.
    const status = async () => (await other.get(statementStatusUrl)).status;
    await expect.poll(status, { timeout: 20_000 }).toBe(200);
  });

  it("says that the session is gone where its gateway is", async () => {
    const [owner, other] = await fleet(() => true);
    const { token } = await owner.logIn();
    expect((await other.post(query, { sqlText: "many" }, token)).code).toBe("390111");
  });
});

/** Two gateways that find each other; a mark ends with the number of its gateway. */
async function fleet(
  gone: () => boolean = () => false,
): Promise<readonly [TestServer, TestServer]> {
  const servers: TestServer[] = [];
  const elsewhereOf = (own: number): Elsewhere => ({
    mark: (instance) => `${instance}-${own}`,
    relay: async (mark, frontend, asked) => {
      const owner = servers[Number(mark.split("-")[1])];
      if (owner === undefined || frontend !== "snowflakeHttp" || gone()) return false;
      owner.relayed(asked);
      return true;
    },
  });
  for (const own of [0, 1]) {
    servers.push(await opened({ answers: { many } }, {}, elsewhereOf(own)));
  }
  return servers as unknown as readonly [TestServer, TestServer];
}
