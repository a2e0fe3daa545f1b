/** Prepared statements and portals as data, and what a statement's text says about how it is run. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Description } from "@gateway/core/query/event.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { classifyStatement } from "@gateway/core/sql/classify.ts";
import { splitStatements } from "@gateway/core/sql/split.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import type { Format } from "@gateway/wire/postgres/message.ts";
import type { Execution } from "./execution.ts";
import { readLocal, type LocalStatement } from "./local.ts";
import { firstWords } from "./words.ts";

/** Who answers a statement. */
export type Kind =
  /** Nothing but white space and comments. */
  | { readonly kind: "empty" }
  | { readonly kind: "local"; readonly local: LocalStatement }
  /** BEGIN, COMMIT, ROLLBACK: the door's, but known to have no result. */
  | { readonly kind: "transaction"; readonly ends: boolean }
  | { readonly kind: "query" };

/** One statement of a text. */
export interface Statement {
  /** The statement alone, without its semicolon. */
  readonly sql: string;
  /** UTF-16 units of the client's text before it. */
  readonly start: number;
  readonly kind: Kind;
}

/** A prepared statement. */
export interface Prepared extends Statement {
  /** The client's whole text, for positions of errors. */
  readonly text: string;
  /** Object ids that the client gave; 0 or missing leaves the type open. */
  readonly types: readonly number[];
  /** Found once, when somebody needs it. */
  description: Description | undefined;
  /** Types the text itself gives to parameters (`casts.ts`). Found once, when somebody needs them. */
  casts: ReadonlyMap<number, number> | undefined;
}

/** A statement with its values. */
export interface Portal {
  readonly prepared: Prepared;
  readonly parameters: readonly Parameter[];
  readonly formats: readonly Format[];
  /** Bytes the values take, for the limit. */
  readonly bytes: number;
  execution: Execution | undefined;
}

/** Cuts a text into its statements. Empty when it holds none. */
export function statementsOf(text: string): Result<readonly Statement[], GatewayError> {
  const slices = splitStatements(text, "postgres");
  if (!slices.ok) {
    const message = `more than ${slices.error.max} statements in one message`;
    return err(gatewayError("query.invalid", { sqlState: "54000", message }));
  }
  return ok(
    slices.value.map(({ start, end }) => {
      const sql = text.slice(start, end);
      return { sql, start, kind: kindOf(sql) };
    }),
  );
}

const empty: Statement = { sql: "", start: 0, kind: { kind: "empty" } };

/** The one statement a Parse message may hold. */
export function preparedOf(text: string, types: readonly number[]): Result<Prepared, GatewayError> {
  const statements = statementsOf(text);
  if (!statements.ok) return statements;
  const [first = empty, second] = statements.value;
  if (second !== undefined) {
    const message = "cannot insert multiple commands into a prepared statement";
    return err(gatewayError("query.syntax", { message }));
  }
  return ok({ ...first, text, types, description: undefined, casts: undefined });
}

/** True for a statement after which a text may mean something else: anything but reading and writing rows. */
export function mayChangeTypes({ sql, kind }: Statement): boolean {
  const [first = ""] = firstWords(sql);
  return kind.kind === "query" && !rowWords.has(first);
}

const rowWords: ReadonlySet<string> = new Set([
  "SELECT",
  "WITH",
  "VALUES",
  "TABLE",
  "INSERT",
  "UPDATE",
  "DELETE",
  "MERGE",
]);

function kindOf(sql: string): Kind {
  const local = readLocal(sql);
  if (local !== undefined) return { kind: "local", local };
  const [first = ""] = firstWords(sql);
  // Only these need the whole text read: `ROLLBACK TO` ends nothing.
  if (!transactionWords.has(first)) return { kind: "query" };
  switch (classifyStatement(sql, "postgres").kind) {
    case "begin":
      return { kind: "transaction", ends: false };
    case "commit":
    case "rollback":
      return { kind: "transaction", ends: true };
    default:
      return { kind: "query" };
  }
}

const transactionWords: ReadonlySet<string> = new Set([
  "BEGIN",
  "START",
  "COMMIT",
  "END",
  "ROLLBACK",
  "ABORT",
  "PREPARE",
]);
