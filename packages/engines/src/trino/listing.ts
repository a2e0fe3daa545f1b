/** What there is to query: catalogs, and tables with their columns from each catalog's information schema. */
import type { GatewayError } from "@gateway/core/error.ts";
import type { TableListing } from "@gateway/core/port/backend.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import { catalogsMs, listedCatalogsMax, listedColumnsMax, listingMs } from "./limits.ts";
import { askOwn, textOf } from "./client/own.ts";
import { quoteIdentifier } from "./sql/quote.ts";
import type { RunContext } from "./client/run.ts";
import type { RequestHead } from "./client/session.ts";
import { typeOfName } from "./types.ts";

type Rows = readonly (readonly Value[])[];

/** Holds no tables of anybody. */
const hidden: ReadonlySet<string> = new Set(["system"]);

/**
 * Remembers what the service account sees for a while: every client's driver asks for all tables at its
 * start. What a user sees under an identity of its own is that user's, and kept by nobody here.
 */
export class Listing {
  readonly #context: RunContext;
  readonly #first: string | undefined;
  #catalogs: readonly string[] = [];
  #learnedMs: number | undefined;
  #tables: { readonly atMs: number; readonly found: readonly TableListing[] } | undefined;

  /** `first`: the catalog that clients stand in by default. */
  constructor(context: RunContext, first: string | undefined) {
    this.#context = context;
    this.#first = first;
    this.#catalogs = first === undefined ? [] : [first];
  }

  /** As far as known; the default one first. */
  get catalogs(): readonly string[] {
    return this.#catalogs;
  }

  /** Learns the catalogs from the gateway's own head, unless it did so a short time ago: some are made while the server runs. */
  async refresh(own: RequestHead, signal: AbortSignal): Promise<void> {
    const nowMs = this.#context.host.clock.nowMs();
    if (this.#learnedMs !== undefined && nowMs - this.#learnedMs < catalogsMs) return;
    const names = await this.#catalogsFor(own, signal);
    if (!names.ok) return;
    this.#catalogs = names.value;
    this.#learnedMs = nowMs;
  }

  /** Tables of all catalogs that the caller sees. A catalog that does not answer is left out. */
  async tables(
    head: RequestHead,
    signal: AbortSignal,
  ): Promise<Result<readonly TableListing[], GatewayError>> {
    const { clock } = this.#context.host;
    const shared = head.caller.mode === "serviceAccount";
    const known = shared ? this.#tables : undefined;
    if (known !== undefined && clock.nowMs() - known.atMs < listingMs) return ok(known.found);
    const catalogs = await this.#catalogsFor(head, signal);
    if (!catalogs.ok) return catalogs;
    const found: TableListing[] = [];
    for (const catalog of catalogs.value.slice(0, listedCatalogsMax)) {
      for (const table of await this.#tablesOf(catalog, head, signal)) found.push(table);
    }
    if (shared && !signal.aborted) {
      this.#catalogs = catalogs.value;
      this.#tables = { atMs: clock.nowMs(), found };
    }
    return ok(found);
  }

  async #catalogsFor(
    head: RequestHead,
    signal: AbortSignal,
  ): Promise<Result<readonly string[], GatewayError>> {
    const answer = await this.#ask("SHOW CATALOGS", head, signal);
    if (!answer.ok) return answer;
    const names = answer.value.map(([name]) => textOf(name)).filter((name) => !hidden.has(name));
    return ok([...new Set([...(this.#first === undefined ? [] : [this.#first]), ...names])]);
  }

  async #tablesOf(
    catalog: string,
    head: RequestHead,
    signal: AbortSignal,
  ): Promise<readonly TableListing[]> {
    const schema = `${quoteIdentifier(catalog)}.information_schema`;
    const columns = await this.#ask(columnsSql(schema), head, signal);
    if (!columns.ok) return [];
    const views = await this.#ask(viewsSql(schema), head, signal);
    const names = views.ok ? views.value.map((row) => row.map(textOf).join("\0")) : [];
    return tablesIn(catalog, columns.value, new Set(names));
  }

  async #ask(
    sql: string,
    head: RequestHead,
    signal: AbortSignal,
  ): Promise<Result<Rows, GatewayError>> {
    const asked = { ...head, sql, rowsMax: listedColumnsMax };
    const answer = await askOwn(this.#context, asked, signal);
    return answer.ok ? ok(answer.value.rows) : answer;
  }
}

function columnsSql(schema: string): string {
  return `SELECT table_schema, table_name, column_name, data_type, is_nullable FROM ${schema}.columns WHERE table_schema <> 'information_schema' ORDER BY table_schema, table_name, ordinal_position LIMIT ${listedColumnsMax}`;
}

function viewsSql(schema: string): string {
  return `SELECT table_schema, table_name FROM ${schema}.views LIMIT ${listedColumnsMax}`;
}

function tablesIn(
  catalog: string,
  rows: Rows,
  views: ReadonlySet<string>,
): readonly TableListing[] {
  const tables: TableListing[] = [];
  let columns: Column[] = [];
  for (const [schemaCell, tableCell, column, type, nullable] of rows) {
    const [schema, name] = [textOf(schemaCell), textOf(tableCell)];
    const last = tables.at(-1);
    if (last?.name !== name || last.schema !== schema) {
      columns = [];
      const kind = views.has(`${schema}\0${name}`) ? "view" : "table";
      tables.push({ catalog, schema, name, kind, columns });
    }
    const engineType = textOf(type);
    columns.push({
      name: textOf(column),
      type: typeOfName(engineType),
      nullable: textOf(nullable) !== "NO",
      engineType,
    });
  }
  return tables;
}
