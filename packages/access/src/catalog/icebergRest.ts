/**
 * A catalog that speaks Iceberg's REST protocol (rest-catalog-open-api.yaml: getConfig, loadTable, loadView). One
 * answer for each table (remembered.ts).
 */
import type { IcebergRestConfig } from "@gateway/contract/config/catalogProvider.ts";
import { secretText } from "@gateway/contract/config/secret.ts";
import { lower } from "@gateway/core/police/names.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Catalog, CatalogTable } from "@gateway/core/port/sql/catalog.ts";
import { z } from "zod";
import { HttpClient } from "../connect/http.ts";
import { RememberedTables, type Said } from "./remembered.ts";

/** Questions at once. Further ones wait, within their time limit. */
const connectionsMax = 8;
/** How old the server's own configuration may be. */
const configTtlMs = 300_000;

/** Opens nothing before it is asked. */
export function icebergCatalog(config: IcebergRestConfig, host: Host): Catalog & AsyncDisposable {
  const server = new IcebergServer(config, host);
  const first = config.catalog === undefined ? undefined : lower(config.catalog);
  return {
    nameParts: first === undefined ? 2 : 3,
    table: (table, signal) => {
      const [catalog, ...rest] = table;
      if (first !== undefined && catalog !== first) return { kind: "unknown" };
      const path = first === undefined ? table : rest;
      return path.length < 2 ? { kind: "unknown" } : server.table(path, signal);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** A status with its JSON, or why there is none. */
type Answered = { readonly status: number; readonly json: unknown } | string;

class IcebergServer implements AsyncDisposable {
  readonly #config: IcebergRestConfig;
  readonly #host: Host;
  readonly #http: HttpClient;
  readonly #tables: RememberedTables;
  #prefix: { readonly path: string; readonly untilMs: number } | undefined;

  constructor(config: IcebergRestConfig, host: Host) {
    const { timeoutMs, caFile, cacheTtlMs } = config;
    this.#config = config;
    this.#host = host;
    this.#http = new HttpClient({ timeoutMs, caFile, connectionsMax }, host);
    const ages = { ttlMs: cacheTtlMs };
    this.#tables = new RememberedTables(host, ages, (path) => this.#answerTo(path));
  }

  /** `path`: the namespace's parts and the name. A promise only where the server is asked. */
  table(path: readonly string[], signal: AbortSignal): ReturnType<Catalog["table"]> {
    return this.#tables.table(path, signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#http[Symbol.asyncDispose]();
  }

  /** Undefined where there is no such table or view. A text is the reason why there is no answer. */
  async #answerTo(path: readonly string[]): Promise<Said> {
    const prefix = await this.#prefixOf();
    if (prefix.startsWith("!")) return prefix.slice(1);
    const namespace = path.slice(0, -1).map(encodeURIComponent).join("%1F");
    const name = encodeURIComponent(path.at(-1) ?? "");
    const within = `/v1${prefix}/namespaces/${namespace}`;
    // Without this all snapshots of a table come along.
    const table = await this.#get(`${within}/tables/${name}?snapshots=refs`);
    if (typeof table === "string") return table;
    if (table.status === 200) return columnsIn(table.json, false) ?? "no table in the answer";
    if (table.status !== 404) return `status ${table.status}`;
    const view = await this.#get(`${within}/views/${name}`);
    if (typeof view === "string") return view;
    if (view.status === 200) return columnsIn(view.json, true) ?? "no view in the answer";
    return withoutViews.has(view.status) ? undefined : `status ${view.status}`;
  }

  /** What stands behind `/v1`, with a slash in front; behind a `!` the reason why there is none. */
  async #prefixOf(): Promise<string> {
    const nowMs = this.#host.clock.nowMs();
    if (this.#prefix !== undefined && this.#prefix.untilMs > nowMs) return this.#prefix.path;
    const { warehouse } = this.#config;
    const query = warehouse === undefined ? "" : `?warehouse=${encodeURIComponent(warehouse)}`;
    const said = await this.#get(`/v1/config${query}`);
    if (typeof said === "string") return `!${said}`;
    if (said.status !== 200) return `!status ${said.status}`;
    const read = configSchema.safeParse(said.json);
    if (!read.success) return "!no configuration in the answer";
    const { defaults, overrides } = read.data;
    const prefix = overrides.prefix ?? defaults.prefix ?? "";
    const path = prefix === "" ? "" : `/${prefix}`;
    this.#prefix = { path, untilMs: nowMs + configTtlMs };
    return path;
  }

  async #get(path: string): Promise<Answered> {
    const { url, credentials } = this.#config;
    const answer = await this.#http.ask({
      url: url.replace(/\/$/, "") + path,
      ...(credentials !== undefined && { token: secretText(credentials.bearer) }),
    });
    return answer.ok ? answer.value : answer.error;
  }
}

/** A server that keeps no views says so in one of these ways. */
const withoutViews: ReadonlySet<number> = new Set([404, 405, 406, 501]);

/** Segments of a path and nothing that leads out of it. */
const prefix = z
  .string()
  .max(1_000)
  .regex(/^(?!.*(^|\/)\.{0,2}(\/|$))[A-Za-z0-9._~%!$&'()*+,;=:@/-]+$/);
const properties = z.looseObject({ prefix: prefix.nullish() });
const configSchema = z.looseObject({ defaults: properties, overrides: properties });

const schema = z.looseObject({
  "schema-id": z.int().optional(),
  fields: z.array(z.looseObject({ name: z.string().min(1).max(1_000) })).max(10_000),
});
const metadata = z.looseObject({
  schemas: z.array(schema).optional(),
  schema: schema.optional(),
  "current-schema-id": z.int().optional(),
  "current-version-id": z.int().optional(),
  versions: z.array(z.looseObject({ "version-id": z.int(), "schema-id": z.int() })).optional(),
});
const loadedSchema = z.looseObject({ metadata });

/** The columns of the schema that counts now; undefined where the answer does not say which that is. */
function columnsIn(json: unknown, isView: boolean): CatalogTable | undefined {
  const read = loadedSchema.safeParse(json);
  if (!read.success) return undefined;
  const { schemas, schema: only, versions = [], ...ids } = read.data.metadata;
  const id = isView
    ? versions.find((one) => one["version-id"] === ids["current-version-id"])?.["schema-id"]
    : ids["current-schema-id"];
  const found = schemas?.find((one) => one["schema-id"] === id && id !== undefined);
  // Tables of the first format may have one schema and no list.
  const current = found ?? (schemas === undefined && !isView ? only : undefined);
  return current && { isView, columns: current.fields.map(({ name }) => name) };
}
