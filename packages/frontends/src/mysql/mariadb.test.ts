import { columnOf } from "@gateway/core/type/build.ts";
import { createConnection, type Connection, type ConnectionConfig } from "mariadb";
import { describe, expect, it } from "vitest";
import { doneOf, failureOf, resultOf, serverOf, tlsFilesOf, type OpenServer } from "./rig/mysql.ts";

const int32 = { kind: "integer", bits: 32, signed: true } as const;
const text = { kind: "text" } as const;
const one = resultOf([columnOf("a", int32)], [[1n]]);

describe("a session of the mariadb package", () => {
  it("sends queries ahead and gets each answer", async () => {
    const answers = Object.fromEntries(
      Array.from({ length: 50 }, (_, row) => [
        `select ${row}`,
        resultOf([columnOf("a", int32)], [[BigInt(row)]]),
      ]),
    );
    await using server = await serverOf({ answers });
    await using client = await clientOf(server);
    const results = await Promise.all(Object.keys(answers).map((sql) => client.query(sql)));
    expect(results.map(([row]) => row.a)).toEqual(Array.from({ length: 50 }, (_, row) => row));
  });

  it("prepares, executes and closes statements with every kind of value", async () => {
    const sql = "select $1, $2, $3, $4, $5";
    await using server = await serverOf({
      answers: { [sql]: one },
      descriptions: {
        [sql]: {
          parameters: [
            int32,
            text,
            { kind: "null" },
            { kind: "boolean" },
            { kind: "timestamp", unit: "us", zoned: false },
          ],
          columns: [columnOf("a", int32)],
        },
      },
    });
    await using client = await clientOf(server, { timezone: "Z" });
    const at = new Date("2024-02-29T12:34:56.789Z");
    const rows = await client.execute("select ?, ?, ?, ?, ?", [7, "né", null, true, at]);
    expect(rows).toMatchObject([{ a: 1 }]);
    expect(server.door.queries.at(-1)?.parameters).toEqual([
      { type: int32, value: 7n },
      { type: text, value: "né" },
      { type: { kind: "null" }, value: null },
      { type: { kind: "boolean" }, value: true },
      { type: { kind: "timestamp", unit: "us", zoned: false }, value: 1_709_210_096_789_000n },
    ]);
    expect(server.bugs()).toEqual([]);
  });

  it("gets big integers, decimals and JSON exactly", async () => {
    const columns = [
      columnOf("big", { kind: "integer", bits: 64, signed: true }),
      columnOf("price", { kind: "decimal", precision: 20, scale: 4 }),
      columnOf("doc", { kind: "list", item: int32 }),
    ];
    await using server = await serverOf({
      answers: { q: resultOf(columns, [[9_007_199_254_740_993n, 12_345n, [1n, 2n]]]) },
    });
    await using client = await clientOf(server);
    expect(await client.query("q")).toMatchObject([
      { big: 9_007_199_254_740_993n, price: "1.2345", doc: [1, 2] },
    ]);
  });

  it("learns of errors, counts and several results", async () => {
    await using server = await serverOf({
      answers: { "select 1": one, "insert x": [doneOf({ updateType: "INSERT", updateCount: 2 })] },
    });
    await using client = await clientOf(server, { multipleStatements: true });
    const results = await client.query("select 1; insert x");
    expect(results[1]).toMatchObject({ affectedRows: 2 });
    expect(await failureOf(client.query("nonsense"))).toMatchObject({
      errno: 1064,
      sqlState: "42000",
    });
    await client.query("set @a = 1");
    await client.reset();
    expect(await client.query("select @a as a")).toMatchObject([{ a: null }]);
  });

  it("logs in over TLS and with the listener's key", async () => {
    using files = tlsFilesOf();
    const passwords = { alice: "secret" };
    await using server = await serverOf({ passwords }, { tls: files.tls });
    const login = { user: "alice", password: "secret" };
    await using secure = await clientOf(server, { ...login, ssl: { ca: files.cert } });
    await secure.ping();
    await using plain = await clientOf(server, { ...login, allowPublicKeyRetrieval: true });
    await plain.ping();
    const wrong = clientOf(server, { ...login, password: "no", ssl: { ca: files.cert } });
    expect(await failureOf(wrong)).toMatchObject({ errno: 1045 });
  });
});

async function clientOf(
  server: OpenServer,
  options: ConnectionConfig = {},
): Promise<Connection & AsyncDisposable> {
  // The package gives up after a second, which a busy machine takes to make a key.
  const base = { host: "127.0.0.1", port: server.port, user: "ann", connectTimeout: 30_000 };
  const client = await createConnection({ ...base, ...options });
  return Object.assign(client, { [Symbol.asyncDispose]: async () => client.destroy() });
}
