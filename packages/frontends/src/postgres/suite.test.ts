import pg from "pg";
import { frontendSuite } from "../frontend.suite.ts";
import type { ConnectClient, SuiteFailure } from "../rig/subject.ts";
import { postgresConfig } from "./config.ts";
import { listen } from "./listen.ts";

frontendSuite("postgresWire", connectPg, {
  listen,
  config: (more) => postgresConfig.parse(more),
  positions: true,
  // A Query message of a gigabyte where a start-up packet of at most 10,000 bytes is due.
  lyingLength: Buffer.from("4000000000030000", "hex"),
  texts: {
    boolean: "t",
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
    binary: "\\x00ff5c41",
    date: "2024-02-29",
    time: "23:59:59.999999",
    timestamp: "2024-02-29 12:34:56.123456",
    timestampNs: "2024-02-29 12:34:56.123456789",
    instant: "2024-02-29 12:34:56.5+00",
    interval: "1 year 2 mons 3 days 04:05:06.789",
    uuid: "0190163d-8694-739b-aea5-966c26f8ad91",
    json: '{"a":[1,null]}',
    list: '{"a b",NULL,""}',
    struct: '{"n":1,"t":"x"}',
    map: '{"k":1}',
  },
});

/** Cells as they came: the client's own conversions are not what is shown here. */
const asTheyCome = { getTypeParser: () => (text: string) => text };

async function connectPg(...[port, { user, password, ca }]: Parameters<ConnectClient>) {
  const client = new pg.Client({
    host: "127.0.0.1",
    port,
    user,
    ...(password === undefined ? {} : { password }),
    ...(ca === undefined ? {} : { ssl: { ca, servername: "localhost" } }),
    types: asTheyCome,
  });
  // A connection that is lost rejects what waits for it; the event says it a second time.
  client.on("error", () => undefined);
  await client.connect();
  return {
    query: async (text: string) => {
      const result = await client
        .query<(string | null)[]>({ text, rowMode: "array" })
        .catch(failed);
      const { fields, rows, rowCount } = result;
      return {
        columns: fields.map(({ name }) => name),
        rows,
        ...(rowCount === null ? {} : { updateCount: rowCount }),
      };
    },
    destroy: () => streamOf(client).destroy(),
    close: () => client.end(),
  };
}

function failed(error: unknown): never {
  const failure: SuiteFailure = error instanceof Error ? error : new Error(String(error));
  const position = Reflect.get(failure, "position") as string | undefined;
  throw Object.assign(failure, { position: position === undefined ? undefined : Number(position) });
}

/** The client's declarations leave out that it has a connection with a stream. */
function streamOf(client: pg.Client): { destroy(): void } {
  return (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;
}
