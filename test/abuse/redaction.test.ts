/**
 * Attack 10: a value of a statement in what leaves the process. Canaries go in as every kind of value
 * of three dialects and into text that nobody can read, and come back in errors as engines write them.
 */
import { canonicalJson } from "@gateway/contract/canonical.ts";
import { recordBatchMax, type QueryRecord } from "@gateway/contract/record.ts";
import type { IncomingRecord } from "@gateway/control/store/store.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { recordOf } from "@gateway/core/record/rig/recordOf.ts";
import { redact, type Redaction } from "@gateway/core/record/redact.ts";
import { ok } from "@gateway/core/result.ts";
import { storeHistory } from "@gateway/gateway/history/storeHistory.ts";
import duckDb from "@duckdb/node-bindings";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { casesOf } from "../cases.ts";

const batchCount = casesOf(100, 500);
const hiding = ["maskLiterals", "metadata"] as const satisfies readonly Redaction[];

describe("a batch of records", () => {
  it.each(hiding)(
    `tells no value of a statement under %s, in ${batchCount} batches`,
    async (mode) => {
      const records = fc.sample(leakingRecord, batchCount * 20);
      const sent = await sentOf(
        records.map(({ record }) => record),
        mode,
      );
      expect(sent).toHaveLength(records.length);
      const leaks = sent.flatMap(({ record }, at) => {
        const told = canonicalJson(record).toLowerCase();
        const canaries = records[at]?.canaries ?? [];
        return canaries.some((canary) => told.includes(canary)) ? [{ canaries, told }] : [];
      });
      expect(leaks).toEqual([]);
    },
  );

  it("would have told them without: the canaries are really there", () => {
    const there = fc.property(leakingRecord, ({ record, canaries }) => {
      const told = canonicalJson(redact(record, "full")).toLowerCase();
      expect(canaries.filter((canary) => !told.includes(canary))).toEqual([]);
    });
    fc.assert(there);
  });

  it("still tells what was asked: the digest is the same for other values", () => {
    const told = fc.property(word, number, word, number, (one, few, other, many) => {
      const digestOf = (text: string, count: string) =>
        redact(
          recordOf({ sql: `select * from t where pin = '${text}' limit ${count}` }),
          "maskLiterals",
        );
      expect(digestOf(one, few).digestHash).toBe(digestOf(other, many).digestHash);
      expect(digestOf(one, few).sql).toBe("select * from t where pin = ? limit ?");
    });
    fc.assert(told);
  });
});

describe("an error of a real DuckDB", () => {
  it.each(hiding)("tells no value of the statement or of a row under %s", async (mode) => {
    const database = await duckDb.open(":memory:");
    const connection = await duckDb.connect(database);
    await duckDb.query(connection, "create table people (pin integer, name varchar primary key)");
    await duckDb.query(connection, "insert into people values (1, 'canaryrow 77 %x')");
    const told: string[] = [];
    let failures = 0;
    for (const sql of failing) {
      const errorMessage = await messageOf(duckDb.query(connection, sql));
      if (errorMessage === undefined) continue;
      failures += 1;
      const record = recordOf({ sql, status: "failed", errorCode: "query.failed", errorMessage });
      told.push(canonicalJson(redact(record, mode)));
    }
    duckDb.disconnect_sync(connection);
    duckDb.close_sync(database);
    // A message that DuckDB does not give any more is no evidence.
    expect(failures).toBeGreaterThan(failing.length - 4);
    expect(told.filter((text) => /canary|87654321/i.test(text))).toEqual([]);
  });
});

async function messageOf(answer: Promise<unknown>): Promise<string | undefined> {
  try {
    await answer;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : undefined;
  }
}

/** Statements that DuckDB refuses with the value in its words: quoted, bare, cut, in capitals, from a row. */
const failing = [
  "select * from people where pin = 'canaryqwert'",
  "select cast('canaryqwert 87654321' as integer)",
  "select 876543218765432187654321::int",
  "select 'canaryqwert'::date",
  "insert into people values (8765432199, 'a')",
  "insert into people values (2, 'canaryrow 77 %x')",
  "select max(name::int) from people",
  "selct 'canaryqwert' 87654321",
  "select 'canaryqwert' from nope where a = 87654321",
  "select foo('canaryqwert', 87654321)",
  "select 'canaryqwert' + 1 87654321",
  "select * from read_csv('/nope/canaryqwert.csv')",
  "select strptime('canaryqwert', '%Y')",
  "select regexp_matches('a', '(canaryqwert')",
  "select 'canaryqwert",
  "select 'canaryqwert' 'x",
  "select $$canaryqwert$$::int",
  "select $1$canaryqwert$1$::int",
  "select e'\\x63anaryqwert'::int",
  "select error('boom canaryqwert 87654321')",
  `select json_extract('{"canaryqwert"', '$.a')`,
  "select * from people where name in ('canaryqwert', 87654321)",
  "select interval 'canaryqwert'",
  "set threads = 'canaryqwert'",
  "create table t (a int check (a < 87654321)); insert into t values (87654321 + 1)",
  "select map {'canaryqwert': 1}['a']::int, 'canaryqwert'::uuid",
  "select format('{canaryqwert}', 1)",
  "select 'canaryqwert'::struct(a int)",
  "select list_sort([1], 'canaryqwert')",
  "copy people to '/nope/canaryqwert.csv'",
  "select 1 where 'canaryqwert'",
];

/** Sends the records in batches through the history, as a running gateway does. */
async function sentOf(
  records: readonly QueryRecord[],
  mode: Redaction,
): Promise<readonly IncomingRecord[]> {
  const sent: IncomingRecord[] = [];
  const history = storeHistory({
    host: virtualHost(1),
    texts: false,
    redaction: () => mode,
    keep: async (batch) => {
      expect(batch.length).toBeLessThanOrEqual(recordBatchMax);
      sent.push(...batch);
      return ok({ accepted: batch.length, duplicates: 0, conflicts: [] });
    },
  });
  const perBatch = records.length / batchCount;
  for (let batch = 0; batch < batchCount; batch += 1) {
    for (const record of records.slice(batch * perBatch, (batch + 1) * perBatch)) {
      history.append(record);
    }
    await history.flush(new AbortController().signal);
  }
  return sent;
}

interface Leaking {
  readonly record: QueryRecord;
  /** In lower case. */
  readonly canaries: readonly string[];
}

/** `canary` and letters no fixed text has. */
const word = fc.stringMatching(/^[a-z]{6,12}$/).map((text) => `canary${text}`);
const number = fc.integer({ min: 10_000_000, max: 99_999_999 }).map(String);

interface Ways {
  readonly sourceDialect: string;
  readonly targetDialect: string;
  /** Ways to write a text as a value. */
  readonly texts: readonly ((text: string) => string)[];
  readonly numbers: readonly ((digits: string) => string)[];
}

const standard = [
  (text: string) => `'${text}'`,
  (text: string) => `'it''s ${text}'`,
  (text: string) => `'% ${text.toUpperCase()} "%'`,
];
const plainNumbers = [
  (digits: string) => digits,
  (digits: string) => `-${digits}`,
  (digits: string) => `${digits}.5`,
  (digits: string) => `${digits}e3`,
];
const dollars = [
  (text: string) => `$$${text}$$`,
  (text: string) => `$tag$ ' ${text} $tag$`,
  (text: string) => `e'a\\'${text}'`,
];

const dialects: readonly Ways[] = [
  {
    sourceDialect: "postgres",
    targetDialect: "duckdb",
    texts: [...standard, ...dollars],
    numbers: plainNumbers,
  },
  { sourceDialect: "duckdb", targetDialect: "duckdb", texts: standard, numbers: plainNumbers },
  {
    sourceDialect: "mysql",
    targetDialect: "mysql",
    texts: [
      ...standard,
      (text) => `"${text}"`,
      (text) => `'a\\'${text}'`,
      (text) => `"a\\"${text}"`,
      (text) => `_utf8'${text}'`,
      (text) => `'a' '${text}'`,
    ],
    numbers: plainNumbers,
  },
  {
    sourceDialect: "trino",
    targetDialect: "trino",
    texts: [...standard, (text) => `U&'${text}'`, (text) => `JSON '{"a": "${text}"}'`],
    numbers: [...plainNumbers, (digits) => `DECIMAL '${digits}'`],
  },
];

/** Statements around a text and a number. The last ones can not be read. */
const shapes: readonly ((text: string, digits: string) => string)[] = [
  (text, digits) => `select * from people where pin = ${text} and ssn = ${digits}`,
  (text, digits) => `insert into people values (1, ${text}), (${digits}, ${text})`,
  (text, digits) => `select ${text} as a, ${digits} as b /* ${digits} */ -- ${digits}`,
  (text, digits) =>
    `update people set pin = concat(${text}, ${digits}) where name in ('a', ${text})`,
  (text, digits) => `call pay(${digits},${text})`,
  (text, digits) => `select ${digits}, ${text}, 'open`,
  (text, digits) => `select ${digits} \u0001 ${text}`,
  (text, digits) => `select ${text} /* ${digits}`,
];

/** How engines speak of a value, with or without the statement around it. */
const errors: readonly ((text: string, digits: string, sql: string) => string)[] = [
  (text) => `Conversion Error: Could not convert string '${text}' to INT32`,
  (text, digits) => `invalid input syntax for type integer: "${text}" (${digits})`,
  (text, digits) => `value ${digits} is out of range, and so is ${text}`,
  (text) => `Duplicate entry '${text}' for key 'PRIMARY'`,
  (text, digits) => `Cannot cast '${text.toUpperCase()}' to bigint; near ${digits}`,
  (_text, _digits, sql) =>
    `You have an error in your SQL syntax; check the manual near '${sql.slice(7)}' at line 1`,
  (_text, _digits, sql) => `Parser Error: syntax error\n\nLINE 1: ${sql}\n        ^`,
  (text, digits) => `line 1:8: mismatched input '${text}'. Expecting: <EOF>, ${digits}`,
  (text) => `no such value: ${text.slice(0, -1)}...`,
  (text) => `prefix_${text}_suffix can't be 'it's ${text}'`,
];

const leakingRecord: fc.Arbitrary<Leaking> = fc
  .record({
    ways: fc.constantFrom(...dialects),
    text: word,
    digits: number,
    writeText: fc.nat(),
    writeNumber: fc.nat(),
    shape: fc.constantFrom(...shapes),
    error: fc.constantFrom(...errors),
    translated: fc.boolean(),
  })
  .map(({ ways, text, digits, shape, error, ...pick }) => {
    const written = oneOf(ways.texts, pick.writeText)(text);
    const sql = shape(written, oneOf(ways.numbers, pick.writeNumber)(digits));
    const record = recordOf({
      sql,
      ...(pick.translated ? { translatedSql: `/* translated */ ${sql}` } : {}),
      sourceDialect: ways.sourceDialect,
      targetDialect: ways.targetDialect,
      status: "failed",
      errorCode: "query.failed",
      errorMessage: error(text, digits, sql),
      tags: { note: `about ${text}`, [text]: digits },
      routingTrace: [
        { step: `script ${text}`, outcome: `tag ${digits}` },
        { step: "queryRegex[0]", outcome: `rule 0: text ${text} in '${sql}'` },
      ],
      policyActions: [`row filter pin = '${text}' for ${digits}`],
    });
    // Nearly all of a value is told as well.
    return { record, canaries: [text.slice(0, -1), digits] };
  });

function oneOf<Item>(items: readonly Item[], pick: number): Item {
  const item = items[pick % items.length];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}
