/** Messages of PostgreSQL's protocol by chance, in an order that no driver would pick. */
import { Buffer } from "node:buffer";
import {
  bindOf,
  closeOf,
  describeOf,
  executeOf,
  flush,
  messageOf,
  parseOf,
  queryOf,
  sync,
  textOf,
} from "@gateway/frontends/postgres/rig/rawClient.ts";
import { Chance } from "@gateway/wire/http/rig/responses.ts";

export const madeSql = "create table t (a int, b text)";
/** What fills the table again before each script. */
export const resetSql = "truncate t; insert into t values (1, 'one'), (2, null)";

const plain: readonly [string, ...string[]] = [
  "select 1",
  "select 1 as a, 'x' as b",
  "select 1/(a - a) from t",
  "selec",
  "",
  "  ;  ",
  "/* nothing */",
  "select generate_series(1, 5) as g",
  "insert into t values (3, 'three') returning a",
  "insert into t select g, 'y' from generate_series(1, 3) g",
  "select a, b from t order by a, b",
  "update t set b = b || '!' where a = 1",
  "select * from missing",
  "begin",
  "begin isolation level serializable read only",
  "start transaction",
  "commit",
  "rollback",
  "savepoint s",
  "commit and chain",
  "rollback and chain",
  "rollback to s",
  "release s",
  "fetch 2 from c",
  "close c",
  "copy t to stdout",
  "set local work_mem = '1MB'",
  "set work_mem = '2MB'",
  "show work_mem",
  "show transaction_isolation",
  "show transaction_read_only",
  "prepare z as select 7 as seven",
  "execute z",
  "deallocate z",
  "deallocate all",
];
const several: readonly [string, ...string[]] = [
  "declare c cursor for select generate_series(1, 4)",
  "select 1; select 2",
  "begin; select 1; commit",
  "select 1; select 1/0; select 2",
  "begin; insert into t values (9, 'nine')",
  "rollback; select 3",
  "insert into t values (8, 'eight'); copy t to stdout",
];
const withValues: readonly [string, ...string[]] = [
  "select $1::int as a",
  "select $1::text as a, $2::int as b",
  "delete from t where a = $1",
  "insert into t values ($1, $2)",
  "select a from t where b = $1 or $2::bool",
];
const wrong: ReadonlySet<string> = new Set(["selec", "select * from missing"]);
const names: readonly [string, ...string[]] = ["", "one", "two"];
const values: readonly [string | null, ...(string | null)[]] = ["1", "x", null, "", "true", "0001"];
const lists: readonly [readonly number[], ...(readonly number[])[]] = [
  [],
  [],
  [],
  [0],
  [1],
  [1, 0],
];

/** One script: turns that end with what brings a server out of every state, and the end of the session. */
export function messagesOf(seed: number): readonly Shown[] {
  const chance = new Chance(seed);
  const made: Shown[] = [];
  for (let turn = 1 + chance.below(5); turn > 0; turn -= 1) {
    for (let count = 1 + chance.below(7); count > 0; count -= 1) made.push(...stepOf(chance));
    made.push(
      { shown: "Sync", bytes: sync },
      { shown: "CopyFail", bytes: messageOf("f", textOf("no more")) },
      { shown: "Sync", bytes: sync },
    );
  }
  return [...made, { shown: "Terminate", bytes: messageOf("X") }];
}

export interface Shown {
  readonly shown: string;
  readonly bytes: Uint8Array;
}

/** One message, the four of an ordinary driver, or a COPY of what the client sends. */
function stepOf(chance: Chance): readonly Shown[] {
  const kind = chance.below(8);
  if (kind > 2) return messageBy(chance);
  const [name, portal] = [chance.pick(names), chance.pick(names)];
  if (kind > 0) {
    const [parse, bind] = [parsed(name, chance), bound(portal, name, chance)];
    return [parse, bind, described(portal), executed(portal, chance)];
  }
  const sql = "copy t from stdin";
  const data = Array.from({ length: chance.below(4) }, () => copyData(chance));
  const end = chance.pick(copyEnds);
  if (chance.below(2) === 0) return [...simple(sql), ...data, end];
  const parse = { shown: `Parse ${name}: ${sql}`, bytes: parseOf(name, sql) };
  const bind = { shown: `Bind ${portal} ${name}`, bytes: bindOf({ portal, statement: name }) };
  return [parse, bind, executed(portal, chance), ...data, end];
}

/** A simple query within a series ends nothing of it in a server, so that its settings and locks stay until the Sync. */
function simple(sql: string): readonly Shown[] {
  return [
    { shown: "Sync", bytes: sync },
    { shown: `Query ${sql}`, bytes: queryOf(sql) },
  ];
}

function messageBy(chance: Chance): readonly Shown[] {
  const [name, portal] = [chance.pick(names), chance.pick(names)];
  switch (chance.below(12)) {
    case 0:
    case 1:
      return [parsed(name, chance)];
    case 2:
      return [bound(portal, name, chance)];
    case 3:
      return [{ shown: `Describe S ${name}`, bytes: describeOf("S", name) }];
    case 4:
      // A simple query leaves a portal without a name behind in a server.
      return [described(portal === "" ? "one" : portal)];
    case 5:
      return [executed(portal, chance)];
    case 6: {
      const target = chance.pick(["S", "P"] as const);
      return [{ shown: `Close ${target} ${name}`, bytes: closeOf(target, name) }];
    }
    case 7:
      return [
        chance.below(2) === 0 ? { shown: "Sync", bytes: sync } : { shown: "Flush", bytes: flush },
      ];
    case 8:
      return [chance.pick([copyDone, copyFail, copyData(chance)] as const)];
    default:
      return simple(chance.pick(chance.below(4) === 0 ? several : plain));
  }
}

function parsed(name: string, chance: Chance): Shown {
  const picked = chance.pick(chance.below(3) === 0 ? withValues : plain);
  // What is wrong with a text is told at its Parse where it gets a name; without one the server is asked with its Bind.
  const sql = name === "" && wrong.has(picked) ? "select 1" : picked;
  const types = name !== "" && chance.below(4) === 0 ? [23] : [];
  return { shown: `Parse ${name}: ${sql} ${types.join()}`, bytes: parseOf(name, sql, types) };
}

function bound(portal: string, statement: string, chance: Chance): Shown {
  const given = Array.from({ length: chance.below(3) }, () => chance.pick(values));
  const binding = {
    portal,
    statement,
    values: given,
    formats: chance.below(6) === 0 ? chance.pick(lists) : [],
    resultFormats: chance.pick(lists),
  };
  return { shown: `Bind ${JSON.stringify(binding)}`, bytes: bindOf(binding) };
}

function described(portal: string): Shown {
  return { shown: `Describe P ${portal}`, bytes: describeOf("P", portal) };
}

function executed(portal: string, chance: Chance): Shown {
  const most = chance.below(3);
  return { shown: `Execute ${portal} ${most}`, bytes: executeOf(portal, most) };
}

const copyDone: Shown = { shown: "CopyDone", bytes: messageOf("c") };
const copyFail: Shown = { shown: "CopyFail", bytes: messageOf("f", textOf("enough")) };
const copyEnds: readonly [Shown, ...Shown[]] = [copyDone, copyDone, copyDone, copyFail];
/** What a client says behind its last message: at once, because nobody may be there to read it later. */
const rest = Buffer.concat([sync, queryOf("select a from t order by a"), messageOf("X")]);
/** What no COPY ends with. */
const breaking: readonly Shown[] = [
  { shown: "Query", bytes: queryOf("select 1") },
  { shown: "Parse", bytes: parseOf("", "select 1") },
  { shown: "Bind", bytes: bindOf({}) },
  { shown: "Describe", bytes: describeOf("S", "") },
  { shown: "Execute", bytes: executeOf("") },
  { shown: "Close", bytes: closeOf("P", "") },
  { shown: "Terminate", bytes: messageOf("X") },
  { shown: "an unknown message", bytes: messageOf("z") },
  { shown: "CopyFail without an end", bytes: messageOf("f", Buffer.from("enough")) },
].map(({ shown, bytes }) => ({ shown, bytes: Buffer.concat([bytes, rest]) }));

/** Each of what no COPY ends with, in the middle of one: in a simple query, in a series, and in a transaction. */
export function brokenCopies(): readonly (readonly Shown[])[] {
  const sql = "copy t from stdin";
  const series = [
    { shown: `Parse ${sql}`, bytes: parseOf("", sql) },
    { shown: "Bind", bytes: bindOf({}) },
    { shown: "Execute", bytes: executeOf("") },
  ];
  const text = { shown: `Query ${sql}`, bytes: queryOf(sql) };
  const begin = { shown: "Query begin", bytes: queryOf("begin") };
  const between = [{ shown: "Flush", bytes: flush }, { shown: "Sync", bytes: sync }, row];
  const starts = [[text], series, [begin, text], [begin, ...series]];
  return breaking.flatMap((end) => [
    ...starts.map((start) => [...start, row, ...between, end]),
    [text, end],
    // What is wrong with the data comes first.
    [text, wrongRow, end],
  ]);
}

const row: Shown = { shown: "CopyData", bytes: messageOf("d", Buffer.from("7\tseven\n")) };
const wrongRow: Shown = {
  shown: "CopyData of no number",
  bytes: messageOf("d", Buffer.from("x\n")),
};

function copyData(chance: Chance): Shown {
  const data = chance.pick(["7\tseven\n", "x\n", "5\t\\N\n6", "\\.\n"]);
  return { shown: `CopyData ${JSON.stringify(data)}`, bytes: messageOf("d", Buffer.from(data)) };
}
