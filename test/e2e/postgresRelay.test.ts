/**
 * A client of PostgreSQL before the native engine: what the server sends (here another gateway, over DuckDB) arrives as
 * it was sent. A group with an engine of another kind is answered as every other one.
 */
import {
  bindOf,
  describeOf,
  executeOf,
  fieldsOf,
  keyOf,
  letters,
  messageOf,
  parseOf,
  queryOf,
  RawClient,
  startupOf,
  statusOf,
  sync,
  textOf,
  type Seen,
} from "@gateway/frontends/postgres/rig/rawClient.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  message,
  ScriptedPostgres,
  type Script,
} from "@gateway/engines/postgresql/rig/scripted.ts";
import { configOf, gatewayOf, portOf, type TestGateway } from "./gateway.ts";

const auth = { type: "basic", username: "gateway", password: "none" };
const clusterAt = (port: number, database = "memory") => ({
  engine: "postgresql",
  hosts: [`127.0.0.1:${port}`],
  database,
  auth,
  poolSize: 2,
});

let server: TestGateway;
let gateway: TestGateway;
let direct: RawClient;
let through: RawClient;

beforeAll(async () => {
  server = await gatewayOf(configOf());
  const local = clusterAt(portOf(server, "postgresWire"));
  gateway = await gatewayOf(configOf({ clusters: { local } }));
  direct = await quietClient(portOf(server, "postgresWire"));
  through = await quietClient(portOf(gateway, "postgresWire"));
  await answer(direct, queryOf("create table made (a int); insert into made values (1), (2)"));
});
afterAll(async () => {
  for (const client of [direct, through]) client.destroy();
  await gateway[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const sql = "select $1::int as n, $2 as t, 1.50::decimal(10,2) as d, [1, 2] as l, null as e";
const values = [Buffer.from([0, 0, 0, 7]), "text"];

describe("an answer of the server", () => {
  it.each([
    ["in text", []],
    ["in binary", [1]],
    ["in a format for each column", [1, 0, 1, 0, 0]],
  ])("arrives byte by byte as it was sent %s", async (_how, resultFormats) => {
    const series = [
      parseOf("", sql, [23]),
      bindOf({ values, formats: [1, 0], resultFormats }),
      describeOf("P"),
      executeOf(),
      sync,
    ];
    expect(await answer(through, ...series)).toEqual(await answer(direct, ...series));
  });

  it("stops at a number of rows and goes on behind them", async () => {
    const query = "select i::int as i from range(7) t(i) order by i";
    const series = [
      queryOf("begin"),
      parseOf("", query),
      bindOf({ portal: "p" }),
      executeOf("p", 3),
      executeOf("p", 3),
      executeOf("p", 3),
      sync,
    ];
    for (const client of [direct, through]) {
      client.send(...series);
      await client.until("Z");
      expect(letters(plain(await client.until("Z")))).toBe("12DDDsDDDsDCZ");
      expect(letters(plain(await answer(client, queryOf("rollback"))))).toBe("CZ");
    }
  });

  it.each([
    "select 1 as a, 'x' as b",
    "create table other (a int); insert into other values (1), (2)",
    "insert into made values (3)",
    "update made set a = a + 1 returning a",
    "select nope",
    "select 1/0; select 2",
    "copy (select 1, 'a,b') to stdout with (format csv, header)",
    "show server_version",
    "select version(), current_user is not null",
    "drop table made",
  ])("to a simple query is the same: %s", async (text) => {
    const answers: (readonly Seen[])[] = [];
    for (const client of [direct, through]) {
      await answer(client, queryOf("begin"));
      answers.push(await answer(client, queryOf(text)));
      await answer(client, queryOf("rollback"));
    }
    const [own = [], other = []] = answers;
    const shown = (seen: Seen) => (seen.type === "E" ? errorOf(seen) : seen);
    expect(other.map(shown)).toEqual(own.map(shown));
  });

  it("tells at Parse what is wrong with a statement that its client keeps", async () => {
    through.send(parseOf("s", "select nope"), sync);
    expect(letters(plain(await through.until("Z")))).toBe("EZ");
  });
});

describe("data of a COPY", () => {
  const copyData = (text: string): Uint8Array => messageOf("d", Buffer.from(text));

  it("goes to the server as it comes, to its end, its refusal, or the server's", async () => {
    const seen: string[] = [];
    await using taking = await ScriptedPostgres.start(copying(seen));
    const local = clusterAt(taking.port);
    await using front = await gatewayOf(configOf({ clusters: { local } }));
    await using client = await quietClient(portOf(front, "postgresWire"));
    client.send(queryOf("copy t from stdin"));
    expect(letters(plain(await client.until("G")))).toBe("G");
    client.send(copyData("1\n2\n"), copyData("3\n"), messageOf("c"));
    const ended = plain(await client.until("Z"));
    expect([letters(ended), ended[0]?.body.toString()]).toEqual(["CZ", "COPY 3\0"]);
    expect(seen).toEqual(["d", "d", "c"]);
    client.send(queryOf("copy t from stdin"));
    await client.until("G");
    client.send(copyData("1\n"), messageOf("f", textOf("no more")));
    expect(letters(plain(await client.until("Z")))).toBe("EZ");
    client.send(queryOf("copy t from stdin"));
    await client.until("G");
    client.send(copyData("wrong\n"));
    expect(letters(plain(await client.until("Z")))).toBe("EZ");
    // What the client had on its way is passed over.
    client.send(copyData("late\n"), messageOf("c"), queryOf("select 1"));
    expect(letters(plain(await client.until("Z")))).toBe("TDCZ");
  });

  it("never names a file or a program of the server's host", async () => {
    for (const text of ["copy t from '/etc/passwd'", "copy t to program 'id'"]) {
      const seen = plain(await answer(through, queryOf(text)));
      expect([text, errorOf(seen[0])["C"]]).toEqual([text, "0A000"]);
    }
  });
});

describe("a connection that is ended in SQL", () => {
  const opened = async (user = "ann") => {
    const client = await RawClient.open(portOf(gateway, "postgresWire"));
    client.send(startupOf({ user }));
    return { client, process: keyOf(await client.until("Z")).process };
  };
  const told = { S: "FATAL", C: "57P01" };

  it("says so, and is its user's alone to end", async () => {
    const { client, process } = await opened();
    await using one = client;
    await using other = (await opened("bob")).client;
    const end = `select pg_terminate_backend(${process})`;
    const refused = await answer(other, queryOf(end));
    expect(errorOf(refused[0])).toMatchObject({ C: "42501" });
    expect(letters(await answer(one, queryOf("select 1")))).toBe("TDCZ");
    const ended = await answer(through, queryOf(end));
    expect([letters(ended), ended[1]?.body.toString("latin1").at(-1)]).toEqual(["TDCZ", "t"]);
    expect((await one.rest()).map(errorOf)).toMatchObject([told]);
  });

  it("is named by a value in either format, or is the client's own", async () => {
    for (const format of [0, 1] as const) {
      const { client, process } = await opened();
      await using one = client;
      const number = Buffer.alloc(4);
      number.writeInt32BE(process);
      const value = format === 1 ? number : `${process}`;
      const bind = bindOf({ formats: [format], values: [value] });
      const parse = parseOf("", "select pg_catalog.pg_terminate_backend($1)");
      expect(letters(await answer(through, parse, describeOf("S"), sync))).toBe("1tTZ");
      expect(letters(await answer(through, parse, bind, executeOf(""), sync))).toBe("12DCZ");
      expect((await one.rest()).map(errorOf)).toMatchObject([told]);
    }
    const { client } = await opened();
    await using one = client;
    one.send(queryOf("select pg_terminate_backend(pg_backend_pid())"));
    const seen = (await one.rest()).filter(({ type }) => type === "E");
    expect(seen.map(errorOf)).toMatchObject([told]);
  });
});

describe("a portal that was bound under a name", () => {
  it("is moved and read on by statements", async () => {
    const named = [
      parseOf("", "select generate_series as n from generate_series(0, 9)"),
      bindOf({ portal: "p" }),
    ];
    await answer(through, queryOf("begin"));
    expect(letters(await answer(through, ...named, sync))).toBe("12Z");
    expect(letters(await answer(through, executeOf("p", 2), sync))).toBe("DDsZ");
    const moved = await answer(through, queryOf("move forward 3 in p"));
    expect(moved.map(({ body }) => body.toString("latin1"))[0]).toBe("MOVE 3\0");
    const fetched = await answer(through, queryOf("fetch 1 from p"));
    expect(letters(fetched)).toBe("TDCZ");
    expect(fetched[1]?.body.toString("latin1")).toContain("5");
    await answer(through, queryOf("rollback"));
  });

  it("tells of its transaction once that failed", async () => {
    await answer(through, queryOf("begin"));
    const wrong = [parseOf("", "select 1 / $1::int", [23]), bindOf({ portal: "w", values: ["x"] })];
    const seen = await answer(through, ...wrong, executeOf("w"), sync);
    expect(seen.some(({ type }) => type === "E")).toBe(true);
    const again = await answer(through, executeOf("w"), sync);
    expect(errorOf(again[0])["C"]).toBe("25P02");
    await answer(through, queryOf("rollback"));
  });
});

describe("a group with another engine in it", () => {
  it("is answered by the gateway's own words and types", async () => {
    const clusters = {
      native: clusterAt(portOf(server, "postgresWire")),
      local: { engine: "duckDb" },
    };
    const group = { members: ["native", "local"], maxRunningQueries: 4 };
    await using mixed = await gatewayOf(configOf({ clusters, clusterGroups: { default: group } }));
    await using client = await quietClient(portOf(mixed, "postgresWire"));
    for (let turn = 0; turn < 4; turn += 1) {
      const seen = plain(
        await answer(client, queryOf("select 42::int as n, 1.50::decimal(10,2) as d")),
      );
      expect(letters(seen)).toBe("TDCZ");
      expect(seen[1]?.body.toString("latin1")).toContain("1.50");
    }
  });
});

/** A server that takes lines of numbers. */
function copying(seen: string[]): Script {
  const ready = message("Z", [0x49]);
  const wrong = message("E", [...Buffer.from("SERROR\0VERROR\0C22P02\0Mno number\0\0")]);
  return ({ letter, text }) => {
    if (letter === "Q" && text.includes("copy t")) return [message("G", [0, 0, 0])];
    if (letter === "Q") {
      const columns = [
        0, 1, 0x6e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0,
      ];
      const row = message("D", [0, 1, 0, 0, 0, 1, 0x31]);
      const done = message("C", [...Buffer.from("SELECT 1\0")]);
      return [message("T", columns), row, done, ready];
    }
    if (letter === "d" && text === "wrong\n") return [wrong, ready];
    if (letter === "d" || letter === "c" || letter === "f") seen.push(letter);
    if (letter === "c") return [message("C", [...Buffer.from("COPY 3\0")]), ready];
    if (letter === "f") return [wrong, ready];
    return [];
  };
}

/** A client that is not told the ids of its queries. */
async function quietClient(port: number): Promise<RawClient> {
  return await RawClient.start(port, { options: "-c gateway.report_query_id=off" });
}

async function answer(client: RawClient, ...sent: readonly Uint8Array[]): Promise<readonly Seen[]> {
  client.send(...sent);
  return plain(await client.until("Z"));
}

/** Without the statuses that come at any time. */
function plain(seen: readonly Seen[]): readonly Seen[] {
  return seen.filter((one) => one.type !== "S" || statusOf(one)[0] !== "gateway.query_id");
}

/** Without the id of the query, which each gateway gives anew. */
function errorOf(seen: Seen | undefined): Readonly<Record<string, string>> {
  const { D: _detail, ...fields } = seen === undefined ? {} : fieldsOf(seen);
  return fields;
}
