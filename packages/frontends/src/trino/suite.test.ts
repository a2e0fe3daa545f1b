import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Agent as HttpAgent, type ClientRequest } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { QueryResults } from "@gateway/wire/trino/results.ts";
import { BasicAuth, Trino } from "trino-client";
import { frontendSuite } from "../frontend.suite.ts";
import type { SampleName } from "../rig/samples.ts";
import type { SuiteAnswer, SuiteClient, SuiteLogin } from "../rig/subject.ts";
import { trinoConfig } from "./config.ts";
import { listen } from "./listen.ts";

/** Each sample as the JSON of Trino 476 has it, nested ones as JSON. */
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
  binary: "AP9cQQ==",
  date: "2024-02-29",
  time: "23:59:59.999999",
  timestamp: "2024-02-29 12:34:56.123456",
  timestampNs: "2024-02-29 12:34:56.123456789",
  instant: "2024-02-29 12:34:56.500000 UTC",
  interval: "P1Y2M3DT4H5M6.789S",
  uuid: "0190163d-8694-739b-aea5-966c26f8ad91",
  json: '{"a":[1,null]}',
  list: '["a b",null,""]',
  struct: '[1,"x"]',
  map: '{"k":1}',
};

frontendSuite("trinoHttp over trino-client", connect, {
  listen,
  config: (more) => trinoConfig.parse(more),
  texts,
  positions: true,
  lyingLength: Buffer.from(
    "POST /v1/statement HTTP/1.1\r\nHost: localhost\r\nX-Trino-User: ann\r\nContent-Length: 1073741824\r\n\r\n",
  ),
  skip: [
    {
      reason:
        "Between two polls there is no connection to lose: a client that left there is noticed at the poll limit (polled.test.ts in core).",
      tests: ["ends the query of a client that leaves in the middle of its rows"],
    },
  ],
});

/** What the client's configuration is to axios, which it wraps. */
interface AxiosConfig {
  httpAgent?: HttpAgent;
  httpsAgent?: HttpsAgent;
  transformResponse?: (text: string) => unknown;
}

async function connect(port: number, login: SuiteLogin): Promise<SuiteClient> {
  const { user, password, ca } = login;
  const trino = Trino.create({
    server: `${ca === undefined ? "http" : "https"}://localhost:${port}`,
    auth: new BasicAuth(user, password ?? ""),
  });
  const agent =
    ca === undefined
      ? new HttpAgent({ keepAlive: true, maxSockets: 1 })
      : new HttpsAgent({ keepAlive: true, maxSockets: 1, ca });
  const { clientConfig } = (trino as unknown as { client: { clientConfig: AxiosConfig } }).client;
  clientConfig.httpAgent = agent;
  clientConfig.httpsAgent = agent as HttpsAgent;
  clientConfig.transformResponse = parseExact;
  return {
    query: (sql) => query(trino, sql),
    destroy: () => leave(agent),
    close: async () => agent.destroy(),
  };
}

async function query(trino: Trino, sql: string): Promise<SuiteAnswer> {
  const rows: (readonly (string | null)[])[] = [];
  let last: QueryResults | undefined;
  for await (const answer of await trino.query(sql)) {
    last = answer as unknown as QueryResults;
    for (const row of last.data ?? []) rows.push(row.map(cellText));
  }
  if (last?.error !== undefined) {
    const position = last.error.errorLocation?.columnNumber;
    throw Object.assign(new Error(last.error.message), { position });
  }
  const changed = last?.updateType !== undefined;
  return {
    columns: last?.columns?.map(({ name }) => name) ?? [],
    rows: changed ? [] : rows,
    updateCount: last?.updateCount,
  };
}

function cellText(cell: unknown): string | null {
  if (cell === null) return null;
  return typeof cell === "string" ? cell : JSON.stringify(cell);
}

/** The client parses JSON into doubles; integers beyond them are kept as text to be compared. */
function parseExact(text: string): unknown {
  if (!text.startsWith("{")) return text;
  return JSON.parse(text.replaceAll(/(?<=[[,])-?\d{16,}(?=[,\]])/g, '"$&"'));
}

const requestStart = "http.client.request.start";

/** Leaves while a request for a link is on its way; one that is on its way already is cut off at once. */
function leave(agent: HttpAgent): void {
  const cut = (): void => {
    unsubscribe(requestStart, onStart);
    agent.destroy();
  };
  const onStart = (message: unknown): void => {
    const { request } = message as { readonly request: ClientRequest & { agent: HttpAgent } };
    if (request.agent === agent && request.method === "GET") request.once("finish", cut);
  };
  const asking = Object.values(agent.requests).length > 0;
  if (Object.values(agent.sockets).length === 0 && !asking) return agent.destroy();
  subscribe(requestStart, onStart);
}
