/**
 * Bulk ingestion: rows that a client brings become INSERTs of many rows with values, through the door like any other
 * statement. So access control, guardrails, limits and groups that are read-only judge them as they judge a client's own.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { SessionChange } from "@gateway/core/query/event.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { placeholdersMax } from "@gateway/core/sql/rewrite/placeholders.ts";
import { readStatement, type Statement } from "@gateway/core/sql/statement.ts";
import type { DataType, Parameter } from "@gateway/core/type/type.ts";
import { unsupported } from "../read/command.ts";
import { quoted, type Ingest } from "../read/ingest.ts";
import type { RowReader } from "../value/parameters.ts";
import { isRounded, sqlTypeOf, type IngestDialect } from "../value/sqlTypes.ts";
import { runToEnd, type StatementContext } from "./statements.ts";
import { begin, end } from "./transaction.ts";

/** Values of one INSERT: its text stays below 16 KiB, and one record stands for some hundred rows. Chosen, not measured. */
const valuesMax = 2_048;

export interface IngestParts {
  readonly ingest: Ingest;
  readonly columns: readonly IngestColumn[];
  /** Message by message, each asked for once the rows before are in the engine. */
  readonly batches: AsyncIterable<Result<RowReader, GatewayError>>;
  readonly session: Session;
  readonly signal: AbortSignal;
  readonly onChange: (change: SessionChange) => void;
}

export interface IngestColumn {
  readonly name: string;
  readonly type: DataType;
}

type Count = Promise<Result<number, GatewayError>>;

/** Takes all rows or, outside of a transaction of the client's, none; answers how many. */
export async function ingestRows(context: StatementContext, parts: IngestParts): Count {
  if (parts.columns.length > placeholdersMax) return err(tooManyColumns);
  if (parts.session.pin !== undefined) return new Ingestion(context, parts).run();
  const pin = await begin(context, parts.session, parts.signal);
  if (!pin.ok) return pin;
  const session: Session = { ...parts.session, pin: pin.value };
  const { signal, onChange } = parts;
  let committed: Result<undefined, GatewayError> | undefined;
  try {
    const count = await new Ingestion(context, { ...parts, session }).run();
    if (!count.ok) return count;
    committed = await end(context, "COMMIT", { session, signal, onChange });
    return committed.ok ? count : committed;
  } finally {
    if (committed?.ok !== true) await pin.value.end();
  }
}

const tooManyColumns = gatewayError("query.parameters", { message: "There are too many columns." });

/** One ingestion, in a transaction. */
class Ingestion {
  readonly #context: StatementContext;
  readonly #parts: IngestParts;
  /** Of as many rows as fit; only the last of a message has another text. */
  readonly #rowsMax: number;
  #whole: Statement | undefined;
  /** Columns that may not have a part of a microsecond. */
  #rounded: readonly boolean[] = [];

  constructor(context: StatementContext, parts: IngestParts) {
    this.#context = context;
    this.#parts = parts;
    this.#rowsMax = Math.max(1, Math.floor(valuesMax / parts.columns.length));
  }

  async run(): Count {
    const made = await this.#table();
    if (!made.ok) return made;
    let count = 0;
    for await (const batch of this.#parts.batches) {
      if (!batch.ok) return batch;
      for (let from = 0; from < batch.value.rows; from += this.#rowsMax) {
        const taken = await this.#insert(batch.value, from);
        if (!taken.ok) return taken;
        count += taken.value;
      }
    }
    return ok(count);
  }

  /** Asks where the rows would go, and makes the table as the client wants it. */
  async #table(): Promise<Result<undefined, GatewayError>> {
    const { ingest, columns, session, signal } = this.#parts;
    const { table, ifMissing, ifExists } = ingest;
    const query = this.#context.door.query(this.#statement(1), [], session);
    const engines = await this.#context.door.target(query, signal);
    if (!engines.ok) return engines;
    const dialect = dialectOf(engines.value.map((engine) => engine.dialect));
    if (dialect === undefined) return err(notTaken);
    const definitions: string[] = [];
    for (const { name, type } of columns) {
      const sqlType = sqlTypeOf(type, dialect);
      if (sqlType === undefined) return err(notTaken);
      definitions.push(`${quoted(name)} ${sqlType}`);
    }
    this.#rounded = columns.map(({ type }) => isRounded(type, dialect));
    const create = `${table} (${definitions.join(", ")})`;
    const texts: string[] = [];
    if (ifExists === "replace") {
      texts.push(`DROP TABLE ${ifMissing === "create" ? "IF EXISTS " : ""}${table}`);
      texts.push(`CREATE TABLE ${create}`);
    } else if (ifMissing === "create") {
      texts.push(`CREATE TABLE ${ifExists === "append" ? "IF NOT EXISTS " : ""}${create}`);
    }
    for (const text of texts) {
      const ran = await this.#run(readStatement(text, session.dialect), []);
      if (!ran.ok) return ran;
    }
    return ok(undefined);
  }

  async #insert(batch: RowReader, from: number): Count {
    const rows = Math.min(this.#rowsMax, batch.rows - from);
    const values = batch.read(from, rows);
    if (!values.ok) return values;
    const isFine = (row: readonly Parameter[]): boolean =>
      row.some(({ value }, column) => this.#rounded[column] === true && hasNanoseconds(value));
    if (values.value.some(isFine)) return err(tooFine);
    const ran = await this.#run(this.#statement(rows), values.value.flat());
    return ran.ok ? ok(ran.value ?? rows) : ran;
  }

  #statement(rows: number): Statement {
    if (rows === this.#rowsMax && this.#whole !== undefined) return this.#whole;
    const { ingest, columns, session } = this.#parts;
    const names = columns.map(({ name }) => quoted(name)).join(", ");
    let place = 0;
    const row = (): string => `(${columns.map(() => `$${(place += 1)}`).join(", ")})`;
    const places = Array.from({ length: rows }, row).join(", ");
    const text = `INSERT INTO ${ingest.table} (${names}) VALUES ${places}`;
    const statement = readStatement(text, session.dialect);
    if (rows === this.#rowsMax) this.#whole = statement;
    return statement;
  }

  async #run(statement: Statement, values: Parameters<StatementContext["door"]["query"]>[1]) {
    const { session, signal, onChange } = this.#parts;
    const query = this.#context.door.query(statement, values, session);
    const done = await runToEnd(this.#context, query, signal, onChange);
    return done.ok ? ok(done.value.updateCount) : done;
  }
}

/** Whether a time or an interval is no whole number of microseconds. */
function hasNanoseconds(value: Parameter["value"]): boolean {
  if (typeof value === "bigint") return value % 1_000n !== 0n;
  return (
    typeof value === "object" &&
    value !== null &&
    "nanoseconds" in value &&
    value.nanoseconds % 1_000n !== 0n
  );
}

const tooFine = gatewayError("query.parameters", {
  message: "The engine has microseconds here: a value with nanoseconds would be rounded.",
});

/** The one that all engines read; undefined where no rows are taken. */
function dialectOf(dialects: readonly (string | undefined)[]): IngestDialect | undefined {
  const [first] = dialects;
  if (first !== "duckdb" && first !== "postgres") return undefined;
  return dialects.every((dialect) => dialect === first) ? first : undefined;
}

const notTaken = unsupported(
  "Bulk ingestion is for DuckDB and PostgreSQL; this engine takes none.",
);
