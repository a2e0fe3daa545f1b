/** Every type of every engine through every protocol: the same cell as DuckDB's for the same value, or a difference that is explained. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Column } from "@gateway/core/type/type.ts";
import {
  clientForms,
  typeDifferences,
  type ClientForm,
  type TypeDifference,
} from "@gateway/gateway/docs/typeDifferences.ts";
import {
  bindOf,
  describeOf,
  executeOf,
  fieldsOf,
  parseOf,
  RawClient,
  rawCellsOf,
  sync,
} from "@gateway/frontends/postgres/rig/rawClient.ts";
import * as mysql from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nativeBlock } from "../fake/clickHouseNative.ts";
import { fakeTrino } from "../fake/trino.ts";
import {
  clickHouseBlock,
  clickHouseTypes,
  duckDbTypes,
  starRocksTypes,
  trinoTypes,
  type TypeCase,
} from "./engineTypes.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

type Engine = TypeDifference["engine"];
/** A cell as text; bytes as hexadecimal digits. */
type Cells = readonly (string | null)[];

const host = "127.0.0.1";
const open: AsyncDisposable[] = [];
let reference: TestGateway;
beforeAll(async () => {
  reference = kept(await gatewayOf(configOf()));
}, 30_000);
afterAll(async () => {
  for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

/** What each engine is asked, behind a gateway of its own. */
const engines: Readonly<Record<Engine, readonly TypeCase[]>> = {
  ClickHouse: clickHouseTypes,
  StarRocks: starRocksTypes,
  Trino: trinoTypes,
  ADBC: duckDbTypes,
};

describe.each(Object.entries(engines) as [Engine, readonly TypeCase[]][])(
  "types of %s",
  (engine, cases) => {
    let gateway: TestGateway;
    beforeAll(async () => {
      gateway = kept(await gatewayBefore(engine, cases));
    }, 30_000);

    it.each(clientForms)("arrive over %s as DuckDB's do, or differ as explained", async (form) => {
      const asked =
        engine === "ClickHouse" || engine === "Trino" ? everyType : select(cases, "from");
      const found = await read[form](gateway, asked);
      const wanted = await read[form](reference, select(cases, "reference"));
      expect(found).toHaveLength(cases.length);
      const differ = cases.filter((_, index) => found[index] !== wanted[index]);
      const shown = differ.map(({ type }) => {
        const index = cases.findIndex((one) => one.type === type);
        return `${type}: ${found[index]} instead of ${wanted[index]}`;
      });
      expect({ types: differ.map(({ type }) => type), shown }).toEqual({
        types: explained(engine, form, cases),
        shown: expect.any(Array) as unknown,
      });
    });
  },
);

describe("the explained differences", () => {
  it("name types that the engines have, each once", () => {
    const keys = typeDifferences.flatMap(({ engine, types, clients }) =>
      types.flatMap((type) => clients.map((form) => `${engine} ${type} ${form}`)),
    );
    expect(new Set(keys).size).toBe(keys.length);
    for (const { engine, types } of typeDifferences) {
      expect(engines[engine].map(({ type }) => type)).toEqual(expect.arrayContaining([...types]));
    }
  });
});

/** Types of the list, in the order of the cases. */
function explained(
  engine: Engine,
  form: ClientForm,
  cases: readonly TypeCase[],
): readonly string[] {
  const listed = typeDifferences
    .filter((one) => one.engine === engine && one.clients.includes(form))
    .flatMap(({ types }) => types);
  return cases.map(({ type }) => type).filter((type) => listed.includes(type));
}

function select(cases: readonly TypeCase[], side: "from" | "reference"): string {
  return `select ${cases.map((one, index) => `${one[side]} as c${index}`).join(", ")}`;
}

/** What stand-ins that know no SQL answer with their row. */
const everyType = "select * from every_type";

async function gatewayBefore(engine: Engine, cases: readonly TypeCase[]): Promise<TestGateway> {
  const clusters = { local: await clusterOf(engine, cases) };
  return await gatewayOf(configOf({ clusters }));
}

async function clusterOf(engine: Engine, cases: readonly TypeCase[]): Promise<object> {
  switch (engine) {
    case "ClickHouse":
      return { engine: "clickHouse", endpoint: await clickHouseOf(cases) };
    case "StarRocks": {
      const port = portOf(reference, "mysqlWire");
      return { engine: "starRocks", endpoint: `mysql://${host}:${port}` };
    }
    case "Trino":
      return { engine: "trino", endpoint: await trinoOf(cases) };
    case "ADBC":
      return { engine: "adbc", driver: "duckdb" };
  }
}

/** A server that answers its one row, its columns, and `SELECT 1`. */
async function clickHouseOf(cases: readonly TypeCase[]): Promise<string> {
  const texts: readonly Column[] = ["name", "type"].map((name) => ({
    name,
    type: { kind: "text" },
    nullable: false,
  }));
  const described = nativeBlock(
    texts,
    cases.map(({ from }, index) => [`c${index}`, from]),
  );
  const answer = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
    let sql = "";
    for await (const part of asked) sql += String(part);
    response.setHeader("X-ClickHouse-Format", "Native");
    if (sql.startsWith("DESCRIBE TABLE")) response.end(described);
    else if (sql === everyType) response.end(Buffer.from(clickHouseBlock, "base64"));
    else
      response.end(
        nativeBlock([{ name: "1", type: { kind: "boolean" }, nullable: false }], [[true]]),
      );
  };
  const server = createServer((asked, response) => void answer(asked, response));
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  open.push({
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  });
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

async function trinoOf(cases: readonly TypeCase[]): Promise<string> {
  const fake = kept(await fakeTrino());
  const columns = cases.map(({ type }, index) => [`c${index}`, type] as const);
  const row = `[[${cases.map(({ from }) => from).join(",")}]]`;
  fake.answers.set(everyType, () => ({ columns, pages: [row][Symbol.iterator]() }));
  fake.answers.set("DESCRIBE INPUT described", () => ({
    columns: [
      ["Position", "bigint"],
      ["Type", "varchar"],
    ],
    pages: ["[[null,null]]"][Symbol.iterator](),
  }));
  const described = JSON.stringify(
    columns.map(([name, type]) => [name, "", "", "", type, 0, false]),
  );
  const names = ["Column Name", "Catalog", "Schema", "Table", "Type"];
  fake.answers.set("DESCRIBE OUTPUT described", () => ({
    columns: [
      ...names.map((name) => [name, "varchar"] as const),
      ["Type Size", "bigint"],
      ["Column Aliased", "boolean"],
    ],
    pages: [described][Symbol.iterator](),
  }));
  return fake.origin;
}

/** The cells of one row, each way. */
const read: Readonly<Record<ClientForm, (gateway: TestGateway, sql: string) => Promise<Cells>>> = {
  "PostgreSQL text": (gateway, sql) => readPostgres(gateway, sql, 0),
  "PostgreSQL binary": (gateway, sql) => readPostgres(gateway, sql, 1),
  "MySQL text": async (gateway, sql) => await readMysql(gateway, sql, "query"),
  "MySQL prepared": async (gateway, sql) => await readMysql(gateway, sql, "execute"),
  Trino: readTrino,
};

/** As bytes: public drivers read binary cells as text first. */
async function readPostgres(gateway: TestGateway, sql: string, format: 0 | 1): Promise<Cells> {
  await using client = await RawClient.start(portOf(gateway, "postgresWire"));
  const formats = { resultFormats: [format] };
  client.send(parseOf("", sql), bindOf(formats), describeOf("P"), executeOf(), sync);
  const seen = await client.until("Z");
  const row = seen.find(({ type }) => type === "D");
  if (row === undefined) throw new Error(JSON.stringify(seen.map(fieldsOf)));
  return rawCellsOf(row).map((cell) => cell?.toString(format === 0 ? "utf8" : "hex") ?? null);
}

async function readMysql(
  gateway: TestGateway,
  sql: string,
  how: "query" | "execute",
): Promise<Cells> {
  const client = await mysql.createConnection({
    host,
    port: portOf(gateway, "mysqlWire"),
    user: "a",
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
  });
  const typeCast = (field: { buffer(): Buffer | null }): string | null =>
    field.buffer()?.toString("latin1") ?? null;
  const [rows] =
    how === "query"
      ? await client.query({ sql, rowsAsArray: true, typeCast } as unknown as mysql.QueryOptions)
      : await client.execute({ sql, rowsAsArray: true });
  await client.end();
  return ((rows as unknown[][])[0] ?? []).map(plain);
}

async function readTrino(gateway: TestGateway, sql: string): Promise<Cells> {
  const headers = { "x-trino-user": "a" };
  const url = `http://${host}:${portOf(gateway, "trinoHttp")}/v1/statement`;
  let text = await (await fetch(url, { method: "POST", headers, body: sql })).text();
  for (;;) {
    // A bigint stays exact only as text, and is told apart from one: JSON's own numbers would round it.
    const page = JSON.parse(text.replaceAll(/([[,])(-?\d{16,})(?=[,\]])/g, '$1"number $2"')) as {
      data?: unknown[][];
      nextUri?: string;
      error?: { message: string };
    };
    if (page.error !== undefined) throw new Error(page.error.message);
    if (page.data !== undefined)
      return (page.data[0] ?? []).map((cell) => (cell === null ? null : JSON.stringify(cell)));
    if (page.nextUri === undefined) throw new Error("no rows");
    text = await (await fetch(page.nextUri, { headers })).text();
  }
}

/** A driver's value as text that tells two apart. */
function plain(cell: unknown): string | null {
  if (cell === null) return null;
  if (Buffer.isBuffer(cell)) return cell.toString("hex");
  return typeof cell === "string" ? cell : JSON.stringify(cell);
}

function kept<T extends AsyncDisposable>(one: T): T {
  open.push(one);
  return one;
}
