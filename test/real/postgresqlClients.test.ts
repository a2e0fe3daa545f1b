/**
 * Clients of PostgreSQL on a server, direct and through the gateway with the native engine between: the same answers,
 * and nothing of one client at another, whatever happens to the server's connections.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import {
  bindOf,
  closeOf,
  describeOf,
  executeOf,
  int16,
  int32,
  letters,
  messageOf,
  parseOf,
  queryOf,
  RawClient,
  sync,
  type Seen,
} from "@gateway/frontends/postgres/rig/rawClient.ts";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configOf, gatewayOf, portOf, type TestGateway } from "../e2e/gateway.ts";
import { emptyDatabase } from "./postgresDatabase.ts";
import { seed } from "./seed.ts";

const inShell = promisify(execFile);

type NoticeField = "severity" | "code" | "message" | "hint" | "where" | "routine";
type Notice = { readonly [Field in NoticeField]?: string | undefined };

let server: URL;
let gateway: TestGateway;
let port: number;
/** One at the server, one through the gateway, each in a database of its own. */
let direct: pg.Client;
let through: pg.Client;

beforeAll(async () => {
  const own = await emptyDatabase("clients_direct");
  server = await emptyDatabase("clients_through");
  const local = {
    engine: "postgresql",
    hosts: [server.host],
    database: "clients_through",
    auth: { type: "basic", username: server.username, password: "none" },
    poolSize: 4,
  };
  gateway = await gatewayOf(configOf({ clusters: { local } }));
  port = portOf(gateway, "postgresWire");
  direct = await clientOf(Number(own.port), own.username, "clients_direct");
  through = await clientOf(port, "ann", "clients_through");
});
afterAll(async () => {
  await Promise.all([direct.end(), through.end()]);
  await gateway[Symbol.asyncDispose]();
});

const queries: readonly (readonly [string, readonly unknown[]])[] = [
  ["create table t (a int primary key, b varchar(7), c numeric(12,2) check (c > 0))", []],
  ["insert into t values ($1, $2, $3)", [1, "x", "1.50"]],
  ["insert into t values (1, 'y', 1)", []],
  ["insert into t values (2, 'y', -1) returning a", []],
  ["insert into t values (3, 'too long for it', 1)", []],
  ["update t set b = 'z' where a = $1 returning *", [1]],
  ["select a, b, c, a + 1 as d from t", []],
  ["select $1::numeric, $2::date, $3::interval, $4::jsonb", ["NaN", "infinity", "1 day", "{}"]],
  ["select $1::int[], '{{1,2},{3,4}}'::int[], array[]::text[]", [[1, 2, 3]]],
  ["select * from pg_type where typname = $1", ["int4"]],
  ["select 1 as a, 2 as a, null", []],
  ["select nope from t", []],
  ["select $1::int", ["abc"]],
  ["select $1", []],
  ["select 1/$1::int", [0]],
  ["select row(1, 'x'), int4range(1, 5), '10.0.0.1'::inet, point '(1,2)', b'101'", []],
  ["select current_setting('server_version_num'), version()", []],
  ["show server_version", []],
  ["explain (costs off) select * from t where a = 1", []],
  [
    "do $$ begin raise exception 'own' using errcode = 'ZX001', detail = 'd', hint = 'h'; end $$",
    [],
  ],
  ["create function f(int) returns int language plpgsql as $$ begin return 1 / $1; end $$", []],
  ["select f($1)", [0]],
  ["create table u as select * from t", []],
  ["select * into v from t", []],
  ["truncate u, v", []],
  ["drop table t, u, v", []],
];

describe("node-postgres", () => {
  it.each([
    ["extended", true],
    ["simple", false],
  ])("gets the same fields, rows, tags and errors in the %s protocol", async (_how, extended) => {
    for (const [text, values] of queries) {
      if (!extended && values.length > 0) continue;
      const query = extended ? { text, values: [...values] } : { text };
      expect([text, await outcomeOf(through, query)]).toEqual([
        text,
        await outcomeOf(direct, query),
      ]);
    }
    for (const client of [direct, through]) await client.query("drop function if exists f(int)");
  });

  it("hears the server's notices as they were raised", async () => {
    const raise =
      "do $$ begin raise notice 'one %', 1; raise warning 'two' using hint = 'h'; end $$";
    const heard = async (client: pg.Client): Promise<unknown[]> => {
      const notices: unknown[] = [];
      const listener = (notice: Notice): void => {
        const { severity, code, message, hint, where, routine } = notice;
        notices.push({ severity, code, message, hint, where, routine });
      };
      client.on("notice", listener);
      await client.query(raise);
      client.off("notice", listener);
      return notices;
    };
    expect(await heard(through)).toEqual(await heard(direct));
  });

  it("is told the server's version when it connects", async () => {
    const [raw, own] = await Promise.all([statusesOf(port), statusesOf(Number(server.port))]);
    expect(raw).toBe(own);
  });
});

describe("psql", () => {
  it("copies both ways, and hears where a line is wrong", async () => {
    const script = [
      "create table c (a int, b text)",
      String.raw`\copy c from stdin`,
      "1\tx",
      "2\ty",
      String.raw`\.`,
      "copy c from stdin with (format csv);",
      "3,fine",
      "oops,z",
      String.raw`\.`,
      "begin;",
      "copy c from stdin;",
      "9\tnine",
      String.raw`\.`,
      "rollback;",
      "copy c to stdout with (format csv, header);",
      "copy (select count(*) from c) to stdout;",
      "drop table c;",
    ]
      .join("\n")
      .replace("text)\n", "text);\n");
    const run = async (at: number, user: string, database: string) => {
      const target = `host=127.0.0.1 port=${at} user=${user} dbname=${database}`;
      const body = `cat <<'EOF' | psql -X -q -f - "${target}" 2>&1\n${script}\nEOF`;
      return (await inShell("sh", ["-c", body])).stdout;
    };
    const shown = await run(port, "ann", "clients_through");
    expect(shown).toBe(await run(Number(server.port), server.username, "clients_direct"));
    expect(shown).toContain("1,x");
  });
});

describe("a server connection that ends", () => {
  const kill =
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'clients_through' and pid <> pg_backend_pid()";
  const steps = [parseOf("", "select 1"), bindOf({}), describeOf("P"), executeOf(), sync];

  it.each(steps.map((_, index) => index))(
    "behind step %i of a series costs at most its statement",
    async (index) => {
      await using client = await RawClient.start(port, { database: "clients_through" });
      client.send(queryOf("select 0"));
      await client.until("Z");
      client.send(...steps.slice(0, index));
      await ended(kill);
      client.send(...steps.slice(index));
      expect(lettersOf(await client.until("Z"))).toMatch(/^1?2?T?(?:DC|E)Z$/);
      client.send(...steps);
      expect(lettersOf(await client.until("Z"))).toBe("12TDCZ");
    },
  );

  it("in a transaction leaves nothing that looks committed", async () => {
    await through.query("create table kept (a int)");
    await through.query("begin");
    await through.query("insert into kept values (1)");
    await ended(kill);
    await expect(through.query("commit")).rejects.toThrow("broke off");
    await through.query("rollback").catch(() => undefined);
    expect((await through.query("select * from kept")).rows).toEqual([]);
    await through.query("drop table kept");
  });

  async function ended(sql: string): Promise<void> {
    const other = await clientOf(Number(server.port), server.username, "clients_direct");
    await other.query(sql);
    await other.end();
  }
});

describe("a shared connection", () => {
  it("shows no session anything of another", { timeout: 240_000 }, async () => {
    const clients = await Promise.all(
      Array.from({ length: 12 }, (_, index) => clientOf(port, `user${index}`, "clients_through")),
    );
    await through.query("create table turns (who int, n int)");
    const rounds = process.env["GATEWAY_NIGHTLY"] === "1" ? 840 : 40;
    const turns = async (client: pg.Client, who: number): Promise<void> => {
      await client.query(`set app.who = '${who}'`);
      await client.query(`set search_path = s${who}, public`);
      for (let n = 0; n < rounds; n += 1) {
        const commits = (seed + who + n) % 3 !== 0;
        await client.query("begin");
        await client.query("insert into turns values ($1, $2)", [who, commits ? n : -1]);
        const { rows } = await client.query(
          "select current_setting('app.who') w, current_setting('search_path') p, count(*) filter (where who <> $1 and n = -1)::int foreign_rows from turns",
          [who],
        );
        expect(rows).toEqual([{ w: `${who}`, p: `s${who}, public`, foreign_rows: 0 }]);
        await client.query(commits ? "commit" : "rollback");
      }
    };
    await Promise.all(clients.map(turns));
    const { rows } = await through.query("select count(*)::int n from turns where n = -1");
    expect(rows).toEqual([{ n: 0 }]);
    const unset = await through.query("select current_setting('app.who', true) w");
    expect(unset.rows[0]?.w ?? "").toBe("");
    await through.query("drop table turns");
    await Promise.all(clients.map((client) => client.end()));
  });
});

it("closes a cursor of its texts by the protocol's Close, and nothing by another name", async () => {
  const left = "select name from pg_cursors where name in ('one', 'two')";
  const said = async (to: number, user: string, database: string): Promise<string> => {
    await using client = await RawClient.start(to, { user, database });
    client.send(queryOf("begin; declare one cursor for select 1; declare two cursor for select 2"));
    await client.until("Z");
    const closes = [closeOf("P", "one"), closeOf("P", "none"), describeOf("P", "two")];
    client.send(...closes, sync, queryOf(left), queryOf("rollback"));
    return [await client.until("Z"), await client.until("Z"), await client.until("Z")]
      .map((seen) => lettersOf(seen))
      .join(" ");
  };
  const own = await said(Number(server.port), server.username, "clients_through");
  expect(own).toBe("33TZ TDCZ CZ");
  expect(await said(port, "ann", "clients_through")).toBe(own);
});

/** Without the statuses, which come at any time. */
function lettersOf(seen: readonly Seen[]): string {
  return letters(seen).replaceAll("S", "");
}

/** What a client sees of a statement's outcome. Numbers that a database gives its own tables are left out. */
async function outcomeOf(client: pg.Client, query: pg.QueryConfig): Promise<unknown> {
  try {
    const { rows, fields, command: tag, rowCount } = await client.query(query);
    const shown = fields.map((field) => ({
      name: field.name,
      type: field.dataTypeID,
      modifier: field.dataTypeModifier,
      size: field.dataTypeSize,
      column: field.columnID,
      ofTable: field.tableID > 0,
    }));
    return { rows, fields: shown, tag, rowCount };
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const { severity, code, message, detail, hint, position, where, schema, table } = error;
    const { column, dataType, constraint, routine, file, line } = error;
    const place = { position, where, routine, file, line };
    return {
      severity,
      code,
      message,
      detail,
      hint,
      schema,
      table,
      column,
      dataType,
      constraint,
      ...place,
    };
  }
}

async function statusesOf(at: number): Promise<string | undefined> {
  const client = new pg.Client({
    host: "127.0.0.1",
    port: at,
    user: server.username,
    database: "clients_through",
  });
  const seen = new Map<string, string>();
  const wire = (client as unknown as { connection: NodeJS.EventEmitter }).connection;
  wire.on("parameterStatus", (message: { parameterName: string; parameterValue: string }) =>
    seen.set(message.parameterName, message.parameterValue),
  );
  await client.connect();
  await client.end();
  return seen.get("server_version");
}

async function clientOf(at: number, user: string, database: string): Promise<pg.Client> {
  const client = new pg.Client({ host: "127.0.0.1", port: at, user, database });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

describe("functions that are called by their number", () => {
  const [creat, open, write, read, close] = [957, 952, 955, 954, 953];

  it("write and read a large object in its transaction, as libpq and JDBC do", async () => {
    const told = async (to: number, database: string) => {
      await using client = await RawClient.start(to, { user: server.username, database });
      client.send(queryOf("begin"));
      await client.until("Z");
      const made = await called(client, creat, [int32(0x60000)]);
      const object = made.value ?? Buffer.alloc(0);
      const opened = await called(client, open, [object, int32(0x60000)]);
      const handle = opened.value ?? Buffer.alloc(0);
      const written = await called(client, write, [handle, Buffer.from([0, 1, 255])]);
      await called(client, close, [handle]);
      const again = (await called(client, open, [object, int32(0x40000)])).value ?? Buffer.alloc(0);
      const found = await called(client, read, [again, int32(10)]);
      const none = await called(client, read, [int32(77), int32(10)]);
      client.send(queryOf("rollback"));
      await client.until("Z");
      return [object.length, handle, written.value, found.value, none.letters, none.code];
    };
    const wanted = await told(Number(server.port), "clients_through");
    expect(wanted.slice(3)).toEqual([Buffer.from([0, 1, 255]), "EZ", "42704"]);
    expect(await told(port, "clients_through")).toEqual(wanted);
  });

  it("leave the unnamed statement alone, and are refused with PostgreSQL's codes", async () => {
    const told = async (to: number) => {
      const parameters = { user: server.username, database: "clients_through" };
      await using client = await RawClient.start(to, parameters);
      client.send(parseOf("", "select 'kept'"), sync);
      await client.until("Z");
      const none = await called(client, 1, []);
      const few = await called(client, open, [int32(1)]);
      const empty = await called(client, 871, [undefined]);
      client.send(bindOf({}), executeOf(), sync);
      const after = letters(await client.until("Z"));
      return [none.letters, none.code, few.letters, few.code, empty.letters, empty.value, after];
    };
    const wanted = await told(Number(server.port));
    expect(await told(port)).toEqual(wanted);
  });

  async function called(
    client: RawClient,
    oid: number,
    values: readonly (Uint8Array | undefined)[],
  ) {
    const parts = values.flatMap((value) =>
      value === undefined ? [int32(-1)] : [int32(value.length), value],
    );
    const head = [int32(oid), int16(1), int16(1), int16(values.length)];
    client.send(messageOf("F", Buffer.concat([...head, ...parts, int16(1)])));
    const seen = await client.until("Z");
    const answer = Buffer.from(seen.find(({ type }) => type === "V")?.body ?? Buffer.alloc(0));
    const error = Buffer.from(seen.find(({ type }) => type === "E")?.body ?? Buffer.alloc(0));
    return {
      letters: letters(seen),
      value: answer.length > 0 && answer.readInt32BE() >= 0 ? answer.subarray(4) : undefined,
      code: /\0C(\w{5})\0/.exec(error.toString("latin1"))?.[1],
    };
  }
});
