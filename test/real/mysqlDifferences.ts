/** What a client is told of a statement, and what may differ between a server of MySQL's family and the gateway in front of it. */
import type { Step } from "./mysqlStatements.ts";

/** A column's definition, as far as it is compared. */
export type Field = Readonly<Record<string, unknown>>;
export type Rows = readonly (readonly unknown[])[];

/** What a client is told of a statement. */
export type Told =
  | { readonly kind: "rows"; readonly fields: readonly Field[]; readonly rows: Rows }
  | { readonly kind: "ok"; readonly counts: unknown }
  | { readonly kind: "error"; readonly errno: number; readonly sqlState: string };

interface Reason {
  readonly why: string;
  readonly when: (step: Step, direct: Told, through: Told, earlier: readonly Step[]) => boolean;
}

const reads = /^(?:select|show|desc|explain|analyze|check|execute)/;
/** What a session is asked for and answers itself. */
const ofSession = /@|\b(?:row_count|found_rows|database|schema|version|connection_id)\s*\(/;

/** What may differ. `earlier` are the steps before, the last one last. */
const reasons: readonly Reason[] = [
  {
    why: "a parameter is a literal of its type here, whose length, type and nullability a server knows better",
    when: ({ values = [] }, direct, through) =>
      values.length > 0 && sameRows(direct, through) && sameNames(direct, through),
  },
  {
    why: "a FLOAT comes as text, which has six digits; a server's binary rows have all",
    when: ({ values }, direct, through) =>
      values !== undefined && sameNames(direct, through) && sameRows(direct, through, isFloatLike),
  },
  {
    why: "a DOUBLE of so many digits behind its point comes as text with them; a server's binary rows have all",
    when: ({ values }, direct, through) =>
      values !== undefined && sameFields(direct, through) && sameRows(direct, through, isCutLike),
  },
  {
    why: "a parameter is a literal of its type here, and literals have no collations to be mixed",
    when: ({ values = [] }, direct, through) =>
      values.length > 0 && isError(direct, 1267) && through.kind === "rows",
  },
  {
    why: "errors of which the gateway knows by itself are listed in its own words",
    when: ({ sql }, direct, through) =>
      /^show (?:errors|warnings)/.test(sql) && isOwnError(direct, through),
  },
  {
    why: "a statement is sent as text, so what a server says as it prepares one is among its warnings",
    when: ({ sql }, direct, through) => sql === "show warnings" && isLonger(direct, through),
  },
  {
    why: "MariaDB says to clients of its own protocol that a text is JSON, and they read it",
    when: (_, direct, through) =>
      sameFields(direct, through) && sameRows(direct, through, isJsonLike),
  },
  {
    why: "MariaDB before 11.1 has no @@transaction_isolation, without which Connector/J can not log in; the gateway has",
    when: ({ sql }, direct, through) =>
      sql.includes("@@transaction_isolation") && isError(direct, 1193) && through.kind === "rows",
  },
  {
    why: "MySQL 9 has no @@tx_isolation, which older clients ask for as they log in; the gateway has",
    when: ({ sql }, direct, through) =>
      sql === "select @@tx_isolation" && isError(direct, 1193) && through.kind === "rows",
  },
  {
    why: "FOUND_ROWS() is of the last SELECT, as is documented; a MySQL counts what an UPDATE found as well, and a MariaDB itself where it is prepared before any",
    when: ({ sql, values }, direct, through, earlier) => {
      const last = earlier.findLast((one) => one.sql.startsWith("update") || reads.test(one.sql));
      const isOdd = last === undefined ? values !== undefined : last.sql.startsWith("update");
      return sql.includes("found_rows()") && sameShape(direct, through) && isOdd;
    },
  },
  {
    why: "a MariaDB tells of an error for as long as no table is read, the gateway of the last statement",
    when: ({ sql }, _, through, earlier) =>
      /^show (?:errors|warnings)/.test(sql) &&
      isEmpty(through) &&
      /^(?:set|do|select (?!.* from ))/.test(earlier.at(-1)?.sql ?? ""),
  },
  {
    why: "a statement is sent as text, so what a server says as it prepares one is counted once",
    when: ({ sql }, direct, through, earlier) =>
      sql === "select @@warning_count" &&
      sameShape(direct, through) &&
      earlier.at(-1)?.values !== undefined,
  },
  {
    why: "a question that the session answers itself keeps the warnings before it, as in MariaDB; in MySQL 9 it ends them",
    when: ({ sql }, direct, _, earlier) =>
      /^show (?:errors|warnings)/.test(sql) &&
      isEmpty(direct) &&
      ofSession.test(earlier.at(-1)?.sql ?? ""),
  },
  {
    why: "a statement is sent as text with each run, so a collation that was set behind its prepare counts for it",
    when: ({ sql, values }, direct, through, earlier) => {
      const prepared = earlier.findIndex((one) => one.sql === sql && one.values !== undefined);
      const since = prepared < 0 ? [] : earlier.slice(prepared);
      return (
        values !== undefined &&
        sameShape(direct, through) &&
        since.some((one) => collating.test(one.sql))
      );
    },
  },
  {
    why: "a user variable that was never set is text; servers of the family differ there themselves",
    when: ({ sql }, direct, through) => sql.includes("@never") && sameRows(direct, through),
  },
  {
    why: "a literal beside what the session itself answers is a BIGINT, as MySQL has it and MariaDB has not",
    when: ({ sql }, direct, through) =>
      /row_count|found_rows|database|schema|@@/.test(sql) && sameRows(direct, through),
  },
  {
    why: "connections of the engine have IGNORE_SPACE, which takes what is written without it as well",
    when: (_, direct, through) =>
      rowsText(direct) === rowsText(through).replaceAll(/IGNORE_SPACE,?/g, ""),
  },
  {
    why: "a list of variables of which the session has some itself says nothing of NULL",
    when: ({ sql }, direct, through) =>
      /^show (?:session )?variables/.test(sql) && sameRows(direct, through),
  },
  {
    why: "how many different values an index has is an estimate, which each server makes when it likes",
    when: ({ sql }, direct, through) => sql.startsWith("show index") && sameFields(direct, through),
  },
  {
    why: "a SET that a server calls outdated has no warning",
    when: ({ sql }, direct, through) =>
      sql.startsWith("set max_length") && direct.kind === "ok" && through.kind === "ok",
  },
  {
    why: "a write in a transaction that may only read is refused before its other errors are looked for",
    when: (_, direct, through) =>
      direct.kind === "error" && through.kind === "error" && through.errno === 1792,
  },
];

const collating = /^set (?:names|collation_connection)/;

function isEmpty(told: Told): boolean {
  return told.kind === "rows" && told.rows.length === 0;
}

/** As many rows of the same columns, whatever is in them. */
function sameShape(direct: Told, through: Told): boolean {
  if (direct.kind !== "rows" || through.kind !== "rows") return false;
  return sameNames(direct, through) && direct.rows.length === through.rows.length;
}

function sameNames(direct: Told, through: Told): boolean {
  const namesOf = (told: Told) =>
    told.kind === "rows" ? told.fields.map((field) => field["name"]).join() : undefined;
  return namesOf(direct) !== undefined && namesOf(direct) === namesOf(through);
}

function sameFields(direct: Told, through: Told): boolean {
  if (direct.kind !== "rows" || through.kind !== "rows") return false;
  return JSON.stringify(direct.fields) === JSON.stringify(through.fields);
}

const floatType = 4;

/** The same values as text. `like` tells where two cells mean the same all the same. */
function sameRows(
  direct: Told,
  through: Told,
  like: (direct: unknown, through: unknown, columnType: unknown) => boolean = () => false,
): boolean {
  if (direct.kind !== "rows" || through.kind !== "rows") return false;
  return (
    direct.rows.length === through.rows.length &&
    direct.rows.every((row, at) =>
      row.every((cell, column) => {
        const other = through.rows[at]?.[column];
        const type = direct.fields[column]?.["columnType"];
        return cellText(cell) === cellText(other) || like(cell, other, type);
      }),
    )
  );
}

function cellText(cell: unknown): string {
  return cell !== null && typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}

function isFloatLike(direct: unknown, through: unknown, columnType: unknown): boolean {
  return (
    columnType === floatType && Number(direct).toPrecision(6) === Number(through).toPrecision(6)
  );
}

const doubleType = 5;

/** Rounded to the digits behind the point of the other. */
function isCutLike(direct: unknown, through: unknown, columnType: unknown): boolean {
  if (columnType !== doubleType || typeof direct !== "number") return false;
  const digits = /\.(\d+)$/.exec(String(through))?.[1]?.length ?? 0;
  return digits > 0 && direct.toFixed(digits) === String(through);
}

function isError(told: Told, errno: number): boolean {
  return told.kind === "error" && told.errno === errno;
}

/** A text that can not be read, a statement that is not done here, a savepoint, a transaction that may only read. */
const ownErrors: ReadonlySet<unknown> = new Set([1064, 1235, 1305, 1792]);

/** One error of the same number. */
function isOwnError(direct: Told, through: Told): boolean {
  if (direct.kind !== "rows" || through.kind !== "rows") return false;
  const [[level, number] = [], ...more] = direct.rows;
  const [[otherLevel, otherNumber] = [], ...others] = through.rows;
  const isSame = level === otherLevel && number === otherNumber;
  return isSame && ownErrors.has(number) && more.length === 0 && others.length === 0;
}

/** Every row of the one, and rows before them. */
function isLonger(direct: Told, through: Told): boolean {
  if (direct.kind !== "rows" || through.kind !== "rows" || direct.rows.length === 0) return false;
  const behind = through.rows.slice(-direct.rows.length);
  const isSame = JSON.stringify(behind) === JSON.stringify(direct.rows);
  return isSame && through.rows.length > direct.rows.length;
}

function isJsonLike(direct: unknown, through: unknown): boolean {
  if (typeof direct === "string" || typeof through !== "string") return false;
  try {
    return JSON.stringify(direct) === JSON.stringify(JSON.parse(through));
  } catch {
    return false;
  }
}

function rowsText(told: Told): string {
  return told.kind === "rows" ? JSON.stringify(told.rows) : told.kind;
}

/** True for a difference that has a reason. */
export function isListed(
  step: Step,
  direct: Told,
  through: Told,
  earlier: readonly Step[],
): boolean {
  return reasons.some((reason) => reason.when(step, direct, through, earlier));
}
