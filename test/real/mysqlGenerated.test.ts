/**
 * Statements by chance to a server of MySQL's family, direct and through the gateway in front of it: what the
 * client is told is equal, or the gateway refused. `npm run test:real` says which server, and where it is.
 */
import { writeFile } from "node:fs/promises";
import mysql, { type Connection, type FieldPacket } from "mysql2/promise";
import { afterAll, beforeAll, expect, it } from "vitest";
import { portOf, type TestGateway } from "../e2e/gateway.ts";
import { openBefore, password, port, user } from "./mysqlGateway.ts";
import { isListed, type Field, type Rows, type Told } from "./mysqlDifferences.ts";
import { chanceOf } from "../ordinary/chance.ts";
import { opening, programOf, type Step } from "./mysqlStatements.ts";
import { seed } from "./seed.ts";

const nightly = process.env["GATEWAY_NIGHTLY"] === "1";
const wanted = Number(process.env["GATEWAY_TEST_STATEMENTS"] ?? (nightly ? "10000" : "150"));
const programLength = 30;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await openBefore();
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function toldOf(client: Connection, { sql, values }: Step): Promise<Told> {
  try {
    const [result, fields] =
      values === undefined
        ? await client.query({ sql, rowsAsArray: true })
        : await client.execute({ sql, rowsAsArray: true }, [...values]);
    if (!Array.isArray(result)) {
      const { affectedRows, insertId, warningStatus, info } = result as mysql.ResultSetHeader;
      return { kind: "ok", counts: { affectedRows, insertId, warningStatus, info: plain(info) } };
    }
    const rows = JSON.parse(plain(JSON.stringify(result))) as Rows;
    return { kind: "rows", fields: fields.map(fieldOf), rows };
  } catch (error) {
    const { errno, sqlState } = error as { errno?: number; sqlState?: string };
    if (errno === undefined) throw error;
    return { kind: "error", errno, sqlState: String(sqlState) };
  }
}

/** Without the query's id, which the gateway writes behind messages. */
function plain(text: string): string {
  return text.replaceAll(/ \(query \w+\)/g, "").replaceAll(/(?: {2})?Query id: \w+/g, "");
}

const binaryCollation = 63;
/** DECIMAL, FLOAT, DOUBLE, and what has fractions of seconds. */
const hasDecimals: ReadonlySet<number> = new Set([0, 4, 5, 7, 11, 12, 246]);
const unsignedFlag = 32;
const notNullFlag = 1;

function fieldOf(field: FieldPacket): Field {
  const { name, columnType, characterSet, flags, decimals } = field as FieldPacket & {
    readonly columnType: number;
    readonly characterSet: number;
    readonly decimals: number;
  };
  const bits = Number(flags);
  // The collation's id is the client's own; what decides how a value reads is whether it is text at all.
  return {
    name,
    columnType,
    text: characterSet !== binaryCollation,
    unsigned: (bits & unsignedFlag) !== 0,
    notNull: (bits & notNullFlag) !== 0,
    decimals: hasDecimals.has(columnType) ? decimals : undefined,
  };
}

type Verdict = "equal" | "refused" | "listed" | "different";

/** Numbers by which the gateway says that it does not do something. */
const refusals: ReadonlySet<number> = new Set([1235, 1295, 1227, 1142, 1115, 3948]);

/** Questions about the statement before. */
const aboutLast = /\b(?:warnings?|errors|warning_count|error_count|row_count)\b/i;

/**
 * Statements that the gateway refuses in a transaction that may only read, because they change something or may. A
 * server ends the transaction at some of them, whatever they do, and runs the others.
 */
const ending =
  /^(?:create|drop|alter|truncate|rename|analyze|check|checksum|optimize|repair|do|call|handler|lock)\b/i;
const readOnly = 1792;

function isRefusal(told: Told | undefined, { sql }: Step): boolean {
  if (told?.kind !== "error") return false;
  return refusals.has(told.errno) || (told.errno === readOnly && ending.test(sql));
}

function verdictOf(step: Step, direct: Told, through: Told, earlier: readonly Step[]): Verdict {
  if (JSON.stringify(direct) === JSON.stringify(through)) return "equal";
  return isListed(step, direct, through, earlier) ? "listed" : "different";
}

/**
 * Without a beginning in a transaction that may only read: MySQL ends that one and reads only in the next one as
 * well, where MariaDB and the gateway begin another.
 */
function withoutNested(steps: readonly Step[]): readonly Step[] {
  let readsOnly = false;
  return steps.filter(({ sql }) => {
    const begins = /^(?:begin|start transaction)/.test(sql);
    if (begins && readsOnly) return false;
    if (begins) readsOnly = sql.endsWith("read only");
    if (/^(?:commit|rollback)$/.test(sql)) readsOnly = false;
    return true;
  });
}

async function clientOf(options: mysql.ConnectionOptions): Promise<Connection> {
  return await mysql.createConnection({
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    host: "127.0.0.1",
    database: "demo",
    ...options,
  });
}

/** Runs a program; steps in `without` are left out. */
async function runProgram(
  options: mysql.ConnectionOptions,
  steps: readonly Step[],
  without: ReadonlySet<number> = new Set(),
): Promise<readonly (Told | undefined)[]> {
  const client = await clientOf(options);
  try {
    for (const sql of opening) await client.query(sql);
    const told: (Told | undefined)[] = [];
    for (const [at, step] of steps.entries()) {
      told.push(without.has(at) ? undefined : await toldOf(client, step));
    }
    return told;
  } finally {
    await client.end();
  }
}

it(
  `answers ${wanted} statements as the server does, or refuses them`,
  { timeout: 3_600_000 },
  async () => {
    const chance = chanceOf(seed);
    const counts: Record<Verdict, number> = { equal: 0, refused: 0, listed: 0, different: 0 };
    const different: unknown[] = [];
    for (let done = 0; done < wanted; done += programLength) {
      const steps = withoutNested(programOf(chance, programLength));
      const through = await runProgram({ port: portOf(gateway, "mysqlWire"), user: "u" }, steps);
      // What was refused did nothing; done direct, it would leave the two sessions in different places.
      const refused = new Set(
        steps.flatMap((step, at) => (isRefusal(through[at], step) ? [at] : [])),
      );
      counts.refused += refused.size;
      const direct = await runProgram({ port, user, password }, steps, refused);
      for (const [at, step] of steps.entries()) {
        const [one, other] = [direct[at], through[at]];
        if (one === undefined || other === undefined) continue;
        // What was refused left its own error behind, and direct it was not sent.
        const isOfRefusal = refused.has(at - 1) && aboutLast.test(step.sql);
        const verdict = isOfRefusal ? "listed" : verdictOf(step, one, other, steps.slice(0, at));
        counts[verdict] += 1;
        if (verdict === "different")
          different.push({ after: steps.slice(0, at), step, direct: one, through: other });
      }
    }
    const file = process.env["GATEWAY_TEST_DIFFERENCES"];
    if (file !== undefined)
      await writeFile(file, different.map((one) => JSON.stringify(one)).join("\n"));
    process.stdout.write(`seed ${seed}: ${JSON.stringify(counts)}\n`);
    expect(different.slice(0, 5), `seed ${seed}`).toEqual([]);
  },
);
