import { once } from "node:events";
import { createConnection, type Connection, type RowDataPacket } from "mysql2/promise";
import { frontendSuite } from "../frontend.suite.ts";
import type { ConnectClient, SuiteAnswer } from "../rig/subject.ts";
import { mysqlConfig } from "./config.ts";
import { listen } from "./listen.ts";

frontendSuite("mysqlWire (mysql2)", connectMysql2(), {
  listen,
  config: (more) => mysqlConfig.parse(more),
  texts: {
    boolean: "1",
    int8: "-128",
    int16: "32767",
    int32: "-2147483648",
    int64: "9223372036854775807",
    int128: "-170141183460469231731687303715884105728",
    uint8: "255",
    uint16: "65535",
    uint32: "4294967295",
    uint64: "18446744073709551615",
    float32: "0.1",
    float64: "0.30000000000000004",
    decimal: "-1234567890.12",
    wideDecimal: "1234567890123456789012345678.9012345678",
    text: 'né "q" \\ \n😀',
    binary: "00ff5c41",
    date: "2024-02-29",
    time: "23:59:59.999999",
    timestamp: "2024-02-29 12:34:56.123456",
    timestampNs: "2024-02-29 12:34:56.123456789",
    instant: "2024-02-29 12:34:56.500000",
    interval: "1 year 2 mons 3 days 04:05:06.789",
    uuid: "0190163d-8694-739b-aea5-966c26f8ad91",
    json: '{"a":[1,null]}',
    list: '["a b",null,""]',
    struct: '{"n":1,"t":"x"}',
    map: '{"k":1}',
  },
  positions: false,
  lyingLength: Uint8Array.of(0xff, 0xff, 0xff, 1),
  skip: [
    {
      reason: "Without TLS the password comes encrypted with the listener's RSA key.",
      tests: ["takes no password without TLS on a listener that others reach"],
    },
  ],
});

function connectMysql2(): ConnectClient {
  return async (port, { user, password, ca }) => {
    const client = await createConnection({
      host: "127.0.0.1",
      port,
      user,
      ...(password === undefined ? {} : { password }),
      ...(ca === undefined ? {} : { ssl: { ca } }),
    });
    // The package leaves a query that waits for ever without an answer when it is destroyed.
    const gone = new AbortController();
    const left = once(gone.signal, "abort").then(() => Promise.reject(new Error("left")));
    left.catch(() => undefined);
    return {
      query: (sql) => Promise.race([textsOf(client, sql), left]),
      destroy: () => {
        client.destroy();
        gone.abort();
      },
      close: () => client.end(),
    };
  };
}

async function textsOf(client: Connection, sql: string): Promise<SuiteAnswer> {
  const [result, fields] = await client.query({
    sql,
    rowsAsArray: true,
    // Bytes have no text of their own: their digits show them all.
    typeCast: (field) =>
      field.type === "BLOB" ? (field.buffer()?.toString("hex") ?? null) : field.string("utf8"),
  });
  // The package types `fields` as always there; a statement without rows has none.
  const columns = (fields as typeof fields | undefined)?.map(({ name }) => name) ?? [];
  if (!Array.isArray(result)) return { columns, rows: [], updateCount: result.affectedRows };
  return { columns, rows: result as RowDataPacket[] as unknown as SuiteAnswer["rows"] };
}
