/** What there is to query: catalogs, and tables with their columns from each catalog's information schema. */
import type { GatewayError } from "@gateway/core/error.ts";
import type { TableListing } from "@gateway/core/port/backend.ts";
import { ok, type Result } from "@gateway/core/result.ts";
import type { Column, Value } from "@gateway/core/type/type.ts";
import { listedCatalogsMax, listedColumnsMax, listingMs } from "./limits.ts";
import { askOwn, textOf } from "./own.ts";
import { quoteIdentifier } from "./quote.ts";
import type { Lane } from "./run.ts";
import type { RequestHeaders } from "./session.ts";
import { typeOfName } from "./types.ts";

type Rows = readonly (readonly Value[])[];

/** Holds no tables of anybody. */
const hidden: ReadonlySet<string> = new Set(["system"]);

/** Remembers what it found for a while: every client's driver asks for all tables at its start. */
export class Listing {
  readonly #lane: Lane;
  readonly #headers: RequestHeaders;
  readonly #first: string | undefined;
  #catalogs: readonly string[] = [];
  #tables: { readonly atMs: number; readonly found: readonly TableListing[] } | undefined;

  /** `first`: the catalog that clients stand in by default. */
  constructor(lane: Lane, headers: RequestHeaders, first: string | undefined) {
    this.#lane = lane;
    this.#headers = headers;
    this.#first = first;
    this.#catalogs = first === undefined ? [] : [first];
  }

  /** As far as known; the default one first. */
  get catalogs(): readonly string[] {
    return this.#catalogs;
  }

  /** Learns the catalogs. */
  async refresh(signal: AbortSignal): Promise<Result<void, GatewayError>> {
    const answer = await this.#ask("SHOW CATALOGS", signal);
    if (!answer.ok) return answer;
    const names = answer.value.map(([name]) => textOf(name)).filter((name) => !hidden.has(name));
    const first = this.#first === undefined ? [] : [this.#first];
    this.#catalogs = [...new Set([...first, ...names])];
    return ok(undefined);
  }

  /** Tables of all catalogs. A catalog that does not answer is left out. */
  async tables(signal: AbortSignal): Promise<Result<readonly TableListing[], GatewayError>> {
    const { clock } = this.#lane.host;
    const known = this.#tables;
    if (known !== undefined && clock.nowMs() - known.atMs < listingMs) return ok(known.found);
    const refreshed = await this.refresh(signal);
    if (!refreshed.ok) return refreshed;
    const found: TableListing[] = [];
    for (const catalog of this.#catalogs.slice(0, listedCatalogsMax)) {
      for (const table of await this.#tablesOf(catalog, signal)) found.push(table);
    }
    if (!signal.aborted) this.#tables = { atMs: clock.nowMs(), found };
    return ok(found);
  }

  async #tablesOf(catalog: string, signal: AbortSignal): Promise<readonly TableListing[]> {
    const schema = `${quoteIdentifier(catalog)}.information_schema`;
    const columns = await this.#ask(columnsSql(schema), signal);
    if (!columns.ok) return [];
    const views = await this.#ask(viewsSql(schema), signal);
    const names = views.ok ? views.value.map((row) => row.map(textOf).join("\0")) : [];
    return tablesIn(catalog, columns.value, new Set(names));
  }

  async #ask(sql: string, signal: AbortSignal): Promise<Result<Rows, GatewayError>> {
    const own = { sql, headers: this.#headers, rowsMax: listedColumnsMax };
    const answer = await askOwn(this.#lane, own, signal);
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
