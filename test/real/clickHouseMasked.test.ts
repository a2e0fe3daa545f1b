/**
 * What a policy hides, on ClickHouse: two servers whose rows differ in nothing else. `npm run test:real` says where they
 * are; four hundred queries there, as many as `ACCESS_QUERIES` says at night.
 */
import { maskedQueries, maskedSuite } from "@gateway/sql/read/masked.suite.ts";
import { filling, moreOf, pairOver, rowsBy, type Opened } from "@gateway/sql/rig/masked.ts";

const servers = (process.env["GATEWAY_TEST_CLICKHOUSE_PAIR"] ?? "").split(" ");
const login = `Basic ${Buffer.from("gateway:gateway-secret").toString("base64")}`;

/** One in twenty is refused here: among fewer, chance brings one in ten now and then. */
const queriesMin = 400;

maskedSuite(
  "clickhouse",
  async () =>
    pairOver("clickhouse", [await openedOf(servers[0], 1), await openedOf(servers[1], 2)]),
  Math.max(maskedQueries.count, queriesMin),
);

async function openedOf(url: string | undefined, secret: number): Promise<Opened> {
  if (url === undefined || url === "") throw new Error("no pair of servers");
  const ask = async (sql: string): Promise<readonly unknown[]> => {
    const response = await fetch(`${url}/?default_format=JSONCompactEachRow`, {
      method: "POST",
      headers: { authorization: login },
      body: sql,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown);
  };
  const range = (count: number): string => `(SELECT number AS i FROM numbers(${count})) r`;
  // The session is the server's own: what is set stays. One thread, so that what is first in a group is the same in both.
  const settings = ["default_table_engine = 'Memory'", "union_default_mode = 'DISTINCT'"];
  for (const setting of [...settings, "max_threads = 1"]) await ask(`SET ${setting}`);
  for (const sql of filling({ secret, more: moreOf(secret), range })) await ask(sql);
  return { rows: rowsBy(ask), close: () => Promise.resolve() };
}
