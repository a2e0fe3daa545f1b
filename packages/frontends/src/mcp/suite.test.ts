import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv-provider.js";
import { Agent, fetch } from "undici";
import { frontendSuite } from "../frontend.suite.ts";
import type { SampleName } from "../rig/samples.ts";
import type { SuiteAnswer, SuiteClient, SuiteLogin } from "../rig/subject.ts";
import { mcpConfig } from "./config.ts";
import { listen } from "./listen.ts";

/** Each sample as the JSON of a structured answer. */
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
  timestamp: "2024-02-29T12:34:56.123456",
  timestampNs: "2024-02-29T12:34:56.123456789",
  instant: "2024-02-29T12:34:56.500000Z",
  interval: "P1Y2M3DT4H5M6.789S",
  uuid: "0190163d-8694-739b-aea5-966c26f8ad91",
  json: '{"a":[1,null]}',
  list: '["a b",null,""]',
  struct: '{"n":1,"t":"x"}',
  map: '{"k":1}',
};

frontendSuite("mcp over @modelcontextprotocol/sdk", connect, {
  listen,
  // One answer holds what the suite asks for, so that a client that leaves always leaves a call behind.
  config: (more) =>
    mcpConfig.parse({ maxAnswerRows: 1_000_000, maxAnswerBytes: 64 << 20, ...more }),
  texts,
  positions: true,
  lyingLength: Buffer.from(
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: 1073741824\r\n\r\n",
  ),
});

/** One for all: each takes milliseconds to make. */
const jsonSchemaValidator = new AjvJsonSchemaValidator();

async function connect(port: number, login: SuiteLogin): Promise<SuiteClient> {
  const { user, password, ca } = login;
  const scheme = ca === undefined ? "http" : "https";
  // One connection for each client, as the suite counts them.
  const agent = new Agent({ connections: 1, ...(ca === undefined ? {} : { connect: { ca } }) });
  const basic = Buffer.from(`${user}:${password ?? ""}`).toString("base64");
  const transport = new StreamableHTTPClientTransport(
    new URL(`${scheme}://localhost:${port}/mcp`),
    {
      fetch: ((url: string, init: object) => fetch(url, { ...init, dispatcher: agent })) as never,
      requestInit: { headers: { Authorization: `Basic ${basic}` } },
    },
  );
  const client = new Client({ name: "suite", version: "1.0" }, { jsonSchemaValidator });
  await client.connect(transport);
  return {
    query: (sql) => query(client, sql),
    destroy: () => void agent.destroy().catch(() => undefined),
    close: async () => {
      await client.close();
      await agent.close();
    },
  };
}

interface Structure {
  readonly status: string;
  readonly columns?: readonly { readonly name: string }[];
  readonly rows?: readonly (readonly unknown[])[];
  readonly complete?: boolean;
  readonly affectedRows?: number;
  readonly error?: { readonly message: string; readonly position?: number };
}

async function query(client: Client, sql: string): Promise<SuiteAnswer> {
  const answer = await client.callTool({
    name: "execute_query",
    arguments: { sql, maxRows: 1_000_000 },
  });
  const structure = answer.structuredContent as Structure;
  if (answer.isError === true) {
    const { message = "", position } = structure.error ?? {};
    throw Object.assign(new Error(message), { position });
  }
  if (structure.complete !== true) throw new Error(`not complete: ${JSON.stringify(structure)}`);
  return {
    columns: structure.columns?.map(({ name }) => name) ?? [],
    rows: structure.rows?.map((row) => row.map(cellText)) ?? [],
    updateCount: structure.affectedRows,
  };
}

function cellText(cell: unknown): string | null {
  if (cell === null) return null;
  return typeof cell === "string" ? cell : JSON.stringify(cell);
}
