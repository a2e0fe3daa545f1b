/**
 * The same statements to a server of MySQL's family and through the gateway in front of it: the answers are
 * equal. `npm run test:real` says which server, and where it is.
 */
import { Readable } from "node:stream";
import mysql, {
  type Connection,
  type ConnectionOptions,
  type ResultSetHeader,
} from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { portOf, type TestGateway } from "../e2e/gateway.ts";
import { engine, openBefore, password, port, user } from "./mysqlGateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await openBefore();
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** Both ways after one another, each on a connection and a table of its own. */
async function bothWays<T>(
  ask: (client: Connection, table: string) => Promise<T>,
  more: ConnectionOptions = {},
): Promise<{ readonly direct: T; readonly through: T }> {
  const direct = await way(
    { host: "127.0.0.1", port, user, password, database: "demo", ...more },
    "same_t",
    ask,
  );
  const ours = {
    host: "127.0.0.1",
    port: portOf(gateway, "mysqlWire"),
    user: "u",
    database: "demo",
    ...more,
  };
  return { direct, through: await way(ours, "same_t", ask) };
}

async function way<T>(
  options: ConnectionOptions,
  table: string,
  ask: (client: Connection, table: string) => Promise<T>,
): Promise<T> {
  const client = await mysql.createConnection({
    dateStrings: true,
    supportBigNumbers: true,
    ...options,
  });
  try {
    await client.query(`drop table if exists ${table}`);
    await client.query(
      `create table ${table} (id bigint unsigned not null auto_increment primary key, v int, s varchar(20) default 'x y', u int unique, at timestamp null, key by_v (v)) default charset utf8mb4`,
    );
    return await ask(client, table);
  } finally {
    await client.query(`drop table if exists ${table}`);
    await client.end();
  }
}

/** What a client is told of each statement: counts, ids and warnings, or rows, or the error's number. */
async function told(
  client: Connection,
  statements: readonly string[],
): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for (const sql of statements) {
    all.push([sql, await client.query(sql).then(([result]) => shapeOf(result), failureOf)]);
  }
  return all;
}

function shapeOf(result: unknown): unknown {
  // The gateway writes the query's id behind a message.
  if (Array.isArray(result))
    return JSON.parse(JSON.stringify(result).replaceAll(/ \(query \w+\)/g, ""));
  const { affectedRows, insertId, warningStatus, changedRows } = result as ResultSetHeader;
  return { affectedRows, insertId, warningStatus, changedRows };
}

function failureOf(error: unknown): unknown {
  return { errno: (error as { readonly errno?: number }).errno };
}

describe("ids, counts and warnings are the server's own", () => {
  const changes = (table: string): readonly string[] => [
    `insert into ${table} (v, u) values (1, 1)`,
    "select last_insert_id() as id",
    `insert into ${table} (v, u) values (2, 2), (3, 3)`,
    "select last_insert_id() as id, row_count() as n",
    `insert into ${table} (id, v) values (700, 5)`,
    "select last_insert_id() as id",
    `insert into ${table} (v) values (last_insert_id())`,
    `select v from ${table} order by id desc limit 1`,
    "select last_insert_id(41) as given",
    "select last_insert_id() as id, @@last_insert_id as variable",
    `update ${table} set v = last_insert_id(v + 1) where u = 1`,
    "select last_insert_id() as id",
    `update ${table} set v = v`,
    "select row_count() as n",
    `insert into ${table} (u, v) values (2, 2) on duplicate key update v = 2`,
    `insert into ${table} (u, v) values (2, 2) on duplicate key update v = 9`,
    `insert into ${table} (u, v) values (1, 2), (2, 9), (8, 8) on duplicate key update v = values(v)`,
    `insert ignore into ${table} (u) values (1)`,
    "show warnings",
    "show count(*) warnings",
    `insert into ${table} (s) values (concat('a', 1/0))`,
    "show warnings",
    "select cast('12x' as signed) as n",
    "show warnings",
    `select sql_calc_found_rows v from ${table} order by id limit 1`,
    "select found_rows() as n",
    `delete from ${table} where v > 5`,
    `replace into ${table} (u, v) values (1, 1)`,
    `insert into ${table} (id) values (18446744073709551610)`,
  ];

  it.each([
    ["of rows that changed", "-FOUND_ROWS"],
    ["of rows that were found", "FOUND_ROWS"],
  ])("for a client that asks for counts %s", async (_what, flag) => {
    const { direct, through } = await bothWays((client, table) => told(client, changes(table)), {
      flags: [flag],
    });
    expect(through).toEqual(direct);
  });

  it("inside of a transaction", async () => {
    const { direct, through } = await bothWays((client, table) =>
      told(client, [
        "begin",
        ...changes(table).slice(0, 8),
        "rollback",
        "select last_insert_id() as id",
      ]),
    );
    expect(through).toEqual(direct);
  });

  it("and no session finds the id of another", async () => {
    const { through } = await bothWays(async (client, table) => {
      await client.query(`insert into ${table} (v) values (1)`);
      const ours = {
        host: "127.0.0.1",
        port: portOf(gateway, "mysqlWire"),
        user: "v",
        database: "demo",
      };
      const other = await mysql.createConnection(ours);
      const seen = await told(other, [
        "select last_insert_id() as id",
        `select last_insert_id() as id from ${table}`,
      ]);
      await other.end();
      return seen;
    });
    expect(through).toMatchObject([
      [expect.anything(), [{ id: 0 }]],
      [expect.anything(), [{ id: 0 }]],
    ]);
  });
});

describe("values arrive as they were written", () => {
  it("in literals of every kind", async () => {
    const { direct, through } = await bothWays((client) =>
      told(client, [
        "select b'101' + 0 as n, hex(b'101') as h, b'101' as raw",
        String.raw`select length('a\0b') as n, hex('a\0b') as h`,
        String.raw`select hex('a\\b\'c\nd\Z') as h, 'a\%b' as p, 'a\_b' like 'a\_b' as l, 'x\y' as y`,
        "select hex(x'00ff') as x, hex(0x41) as n, hex(_binary'\\0\\\\') as b",
        String.raw`select concat('\0', "\\", '\'') as c`,
      ]),
    );
    expect(through).toEqual(direct);
  });

  it("and in values that a driver writes into its text", async () => {
    const { direct, through } = await bothWays(async (client, table) => {
      const values = ["a\0b", "back\\slash", "it's", '"', "\u001a\r\n\t", "\u{1f600}"];
      for (const value of values)
        await client.query(`insert into ${table} (s) values (?)`, [value]);
      for (const value of values)
        await client.execute(`insert into ${table} (s) values (?)`, [value]);
      return await told(client, [`select s, hex(s) as h from ${table} order by id`]);
    });
    expect(through).toEqual(direct);
  });

  it("in the session's time zone", async () => {
    const { direct, through } = await bothWays((client, table) =>
      told(client, [
        "set time_zone = '+02:00'",
        `insert into ${table} (at) values ('2024-06-01 12:00:00')`,
        "select timediff(now(), utc_timestamp()) as ahead",
        "set time_zone = '-05:30'",
        `select cast(at as char) as at from ${table}`,
        "set time_zone = '+00:00'",
        `select cast(at as char) as at from ${table}`,
        "set time_zone = SYSTEM",
        "select 1 as one",
        `drop table ${table}`,
      ]),
    );
    expect(through).toEqual(direct);
  });
});

describe("what is about tables is said in the server's own words", () => {
  it("by SHOW, DESCRIBE and information_schema", async () => {
    const { direct, through } = await bothWays((client, table) =>
      told(client, [
        `show create table ${table}`,
        `show columns from ${table}`,
        `show full columns from ${table} like 's'`,
        `show keys from ${table} where key_name = 'by_v'`,
        `describe ${table}`,
        `desc ${table} v`,
        "show tables",
        "show full tables like 'same%'",
        "show databases",
        `select table_name, table_type, engine from information_schema.tables where table_schema = database() and table_name = '${table}'`,
        `select * from information_schema.columns where table_schema = 'demo' and table_name = '${table}' order by ordinal_position`,
        `select index_name, column_name from information_schema.statistics where table_name = '${table}' order by 1`,
        `select constraint_name, column_name from information_schema.key_column_usage where table_name = '${table}' order by 1`,
        "select schema_name from information_schema.schemata order by 1",
      ]),
    );
    expect(through).toEqual(direct);
  });
});

describe.runIf(engine === "mysql")("what only a connection can keep is the session's own", () => {
  const programs: readonly (readonly string[])[] = [
    [
      "create temporary table kept_t (a int)",
      "insert into kept_t values (1), (2)",
      "select * from kept_t",
      "drop temporary table kept_t",
    ],
    ["lock tables same_t write", "insert into same_t (v) values (1)", "unlock tables"],
    ["select get_lock('kept', 0) as got", "select is_used_lock('kept') is not null as held"],
    [
      "set @a = 1, @b = 'x'",
      "select @a + 1 as a, @b as b",
      "select @a := @a + 5 as a",
      "select @a as a",
    ],
    ["set @sum = 0", "select @sum := @sum + n as s from (select 1 as n union all select 2) t"],
  ];

  it.each(programs.map((program) => [program[0], program] as const))(
    "%s",
    async (_first, program) => {
      const { direct, through } = await bothWays((client) => told(client, program));
      expect(through).toEqual(direct);
    },
  );

  it("and the session after it finds none of it", async () => {
    const { through } = await bothWays(async (client) => {
      await told(client, [
        "create temporary table only_t (a int)",
        "set @left = 1",
        "select @left + 1 as n",
      ]);
      return undefined;
    });
    expect(through).toBeUndefined();
    const { through: next } = await bothWays((client) =>
      told(client, ["select * from only_t", "select @left is null as gone"]),
    );
    expect(next).toEqual([
      ["select * from only_t", { errno: 1146 }],
      ["select @left is null as gone", [{ gone: 1 }]],
    ]);
  });
});

describe.runIf(engine === "mysql")("what the protocol itself carries", () => {
  it("gives every result of a procedure, as a text and prepared", async () => {
    const { direct, through } = await bothWays(async (client, table) => {
      await client.query("drop procedure if exists same_p");
      await client.query(
        `create procedure same_p(in n int) begin select n as n; select n + 1 as m, 'x' as t; insert into ${table} (v) values (n); end`,
      );
      const answers = [
        await client.query("call same_p(1)").then(([result]) => result),
        await client.execute("call same_p(?)", [7]).then(([result]) => result),
      ];
      await client.query("drop procedure same_p");
      return JSON.parse(
        JSON.stringify(answers).replaceAll(/"info":"[^"]*"/g, '"info":""'),
      ) as unknown;
    });
    expect(through).toEqual(direct);
  });

  it("lets blanks stand before a bracket where the login asks for it, on a cleaned connection too", async () => {
    const ask = async (client: Connection, table: string): Promise<unknown> => {
      await client.query("set @left = 1");
      return await told(client, [`select count (*) as n from ${table}`]);
    };
    const { direct, through } = await bothWays(ask);
    expect(through).toEqual(direct);
    expect((await bothWays(ask)).through).toEqual(direct);
  });

  it("reads a backslash as the session's mode says", async () => {
    const { direct, through } = await bothWays(async (client, table) => [
      await told(client, [
        "set sql_mode = concat(@@sql_mode, ',NO_BACKSLASH_ESCAPES')",
        String.raw`insert into ${table} (s) values ('a\'), ('\n'), (concat('it''s ', "\%")), ('x\%y')`,
        String.raw`select s, hex(s) as h, '\' as 'a\b' from ${table} order by id`,
        String.raw`select s like 'x\%y' as l, s = '\n' as e from ${table} order by id`,
        String.raw`select '\' or 1 = 1 -- '`,
        "begin",
        String.raw`set @a = '\'`,
        String.raw`select @a as a, hex('\\') as two, /* '\' */ 1 as one`,
        "rollback",
        String.raw`select * from ${table} where s = '\' sinstead of`,
      ]),
      await client.execute(String.raw`select ? as given, '\t' as t`, ["\\"]).then(([rows]) => rows),
      await client
        .query("do 1")
        .then(([ended]) => (ended as ResultSetHeader & { serverStatus: number }).serverStatus),
      await told(client, ["set sql_mode = ''", String.raw`select 'it\'s' as s, hex('\\') as two`]),
    ]);
    expect(through).toEqual(direct);
  });

  it("loads a file of the client", async () => {
    const { direct, through } = await bothWays(async (client, table) => {
      await client.query({
        sql: `load data local infile 'mine.csv' into table ${table} fields terminated by ',' (v, s)`,
        infileStreamFactory: () => Readable.from([Buffer.from("1,a\n2,b\n")]),
      });
      return await told(client, [`select v, s from ${table} order by v`]);
    });
    expect(through).toEqual(direct);
  });

  it("gives rows of prepared statements with every digit", async () => {
    const { direct, through } = await bothWays(async (client) => {
      const [rows] = await client.execute(
        "select cast(0.1 as float) as f, 1e0 / 3 as d, ? as given, cast('0000-00-00' as char) as z",
        [2.5],
      );
      return rows;
    });
    expect(through).toEqual(direct);
  });
});

describe.runIf(engine === "starRocks")(
  "what a session would have to keep is refused, not lost",
  () => {
    it.each([
      "create temporary table kept_t (a int)",
      "lock tables same_t write",
      "select get_lock('kept', 0)",
      "flush tables with read lock",
    ])("%s", async (sql) => {
      const { through } = await bothWays((client) => told(client, [sql, "select 1 as one"]));
      expect(through).toEqual([
        [sql, { errno: 1235 }],
        ["select 1 as one", [{ one: 1 }]],
      ]);
    });
  },
);
