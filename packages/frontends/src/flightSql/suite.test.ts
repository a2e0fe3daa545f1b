import { DataType, type Vector } from "apache-arrow";
import { frontendSuite } from "../frontend.suite.ts";
import type { SampleName } from "../rig/samples.ts";
import type { SuiteAnswer, SuiteClient, SuiteLogin } from "../rig/subject.ts";
import { flightConfig } from "./config.ts";
import { listen } from "./listen.ts";
import { FlightClient } from "./rig/client.ts";
import { announced } from "./rig/http2.ts";

/** Each sample as its bytes say it: counts of units as counts, so that no digit can be lost in a text. */
const texts: Readonly<Record<SampleName, string>> = {
  boolean: "true",
  int8: "-128",
  int16: "32767",
  int32: "-2147483648",
  int64: "9223372036854775807",
  int128: "-170141183460469231731687303715884105728 e0",
  uint8: "255",
  uint16: "65535",
  uint32: "4294967295",
  uint64: "18446744073709551615",
  float32: "0.10000000149011612",
  float64: "0.30000000000000004",
  decimal: "-123456789012 e2",
  wideDecimal: "12345678901234567890123456789012345678 e10",
  text: 'né "q" \\ \n😀',
  binary: "00ff5c41",
  date: "19782",
  time: "86399999999",
  timestamp: "1709210096123456",
  timestampNs: "1709210096123456789",
  instant: "1709210096500000",
  interval: "14,3,14706789000000",
  uuid: "0190163d8694739baea5966c26f8ad91",
  json: '{"a":[1,null]}',
  list: '["a b",null,""]',
  struct: '{"n":1,"t":"x"}',
  map: '{"k":1}',
};

frontendSuite("flightSql over grpc-js", connect, {
  listen,
  config: (more) => flightConfig.parse(more),
  texts,
  positions: false,
  lyingLength: announced(1 << 30),
});

async function connect(port: number, login: SuiteLogin): Promise<SuiteClient> {
  const client = await FlightClient.connect(port, login);
  return {
    query: (text) => query(client, text),
    destroy: () => client.destroy(),
    close: async () => client.destroy(),
  };
}

async function query(client: FlightClient, text: string): Promise<SuiteAnswer> {
  if (text.startsWith("INSERT")) {
    return { columns: [], rows: [], updateCount: Number(await client.update(text)) };
  }
  const { table } = await client.query(text);
  const columns = table.schema.fields.map(({ name }) => name);
  const cells = columns.map((name) => cellsOf(table.getChild(name) as Vector));
  const rows = Array.from({ length: table.numRows }, (_, row) =>
    cells.map((column) => column[row] ?? null),
  );
  return { columns, rows };
}

function cellsOf(vector: Vector): readonly (string | null)[] {
  return vector.data.flatMap((data) =>
    Array.from({ length: data.length }, (_, row) =>
      data.getValid(row) && !DataType.isNull(data.type)
        ? cellText(vector.type as DataType, data.values as ArrayLike<unknown>, row, vector)
        : null,
    ),
  );
}

function cellText(type: DataType, values: ArrayLike<unknown>, row: number, vector: Vector): string {
  if (DataType.isDecimal(type)) {
    const width = type.bitWidth / 32;
    const words = (values as Uint32Array).subarray(row * width, (row + 1) * width);
    let value = 0n;
    for (const word of words.toReversed()) value = (value << 32n) | BigInt(word);
    return `${BigInt.asIntN(type.bitWidth, value)} e${type.scale}`;
  }
  if (DataType.isDate(type) || DataType.isTime(type) || DataType.isTimestamp(type)) {
    return String(values[row]);
  }
  if (DataType.isInterval(type)) {
    const words = new Int32Array((values as Int32Array).buffer, (values as Int32Array).byteOffset);
    const nanos = new BigInt64Array(words.slice(row * 4 + 2, row * 4 + 4).buffer)[0];
    return `${words[row * 4]},${words[row * 4 + 1]},${nanos}`;
  }
  const value: unknown = vector.get(row);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (typeof value === "bigint") return value.toString();
  return typeof value === "string" ? value : JSON.stringify(value);
}
