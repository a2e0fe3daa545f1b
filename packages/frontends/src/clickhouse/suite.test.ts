/** The contract of a frontend over @clickhouse/client, ClickHouse's own client for Node. */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { createClient, type ClickHouseClient } from "@clickhouse/client";
import { frontendSuite } from "../frontend.suite.ts";
import type { SampleName } from "../rig/samples.ts";
import type { SuiteAnswer, SuiteClient, SuiteLogin } from "../rig/subject.ts";
import { clickhouseConfig } from "./config.ts";
import { listen } from "./listen.ts";

const texts: Readonly<Record<SampleName, string>> = {
  boolean: "true",
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
  binary: "\0\ufffd\\A",
  date: "2024-02-29",
  time: "23:59:59.999999",
  timestamp: "2024-02-29 12:34:56.123456",
  timestampNs: "2024-02-29 12:34:56.123456789",
  instant: "2024-02-29 12:34:56.500000",
  interval: "P1Y2M3DT4H5M6.789S",
  uuid: "0190163d-8694-739b-aea5-966c26f8ad91",
  json: '{"a":[1,null]}',
  list: "['a b',NULL,'']",
  struct: "(1,'x')",
  map: "{'k':1}",
};

frontendSuite("clickhouseHttp over @clickhouse/client", connect, {
  listen,
  config: (more) => clickhouseConfig.parse(more),
  texts,
  positions: false,
  lyingLength: Buffer.from(
    "POST / HTTP/1.1\r\nHost: localhost\r\nX-ClickHouse-User: ann\r\nContent-Length: 1073741824\r\n\r\n",
  ),
});

async function connect(port: number, login: SuiteLogin): Promise<SuiteClient> {
  const { user, password, ca } = login;
  const agent =
    ca === undefined
      ? new HttpAgent({ keepAlive: true, maxSockets: 1 })
      : new HttpsAgent({ keepAlive: true, maxSockets: 1, ca });
  const client = createClient({
    url: `${ca === undefined ? "http" : "https"}://localhost:${port}`,
    username: user,
    password: password ?? "",
    http_agent: agent,
    log: { level: 127 },
  });
  return {
    query: (sql) => (sql.startsWith("INSERT") ? change(client, sql) : query(client, sql)),
    destroy: () => agent.destroy(),
    close: () => client.close(),
  };
}

/** The names, then the types, then each row as its texts. */
async function query(client: ClickHouseClient, sql: string): Promise<SuiteAnswer> {
  const format = "JSONCompactStringsEachRowWithNamesAndTypes";
  const result = await client.query({ query: sql, format });
  const [columns = [], _types, ...rows] = await result.json<readonly (string | null)[]>();
  return { columns: columns.map(String), rows };
}

async function change(client: ClickHouseClient, sql: string): Promise<SuiteAnswer> {
  const { summary } = await client.command({ query: sql });
  return { columns: [], rows: [], updateCount: Number(summary?.written_rows) };
}
