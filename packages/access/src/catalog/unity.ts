/**
 * A Unity Catalog over its REST API (`GET /api/2.1/unity-catalog/tables/{full_name}`, api/all.yaml of the open-source
 * server). One answer for each table (remembered.ts).
 */
import type { UnityConfig } from "@gateway/contract/config/catalogProvider.ts";
import { secretText } from "@gateway/contract/config/secret.ts";
import { lower } from "@gateway/core/police/names.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Catalog } from "@gateway/core/port/sql/catalog.ts";
import { z } from "zod";
import { HttpClient } from "../connect/http.ts";
import { RememberedTables, type Said } from "./remembered.ts";

/** Questions at once. Further ones wait, within their time limit. */
const connectionsMax = 8;

/** Opens nothing before it is asked. */
export function unityCatalog(config: UnityConfig, host: Host): Catalog & AsyncDisposable {
  const { timeoutMs, caFile, cacheTtlMs, catalog } = config;
  const http = new HttpClient({ timeoutMs, caFile, connectionsMax }, host);
  const ages = { ttlMs: cacheTtlMs };
  const tables = new RememberedTables(host, ages, (path) => said(path, config, http));
  const own = catalog === undefined ? undefined : lower(catalog);
  return {
    nameParts: own === undefined ? 3 : 2,
    table: (path, signal) => {
      const whole = own !== undefined && path.length === 2 ? [own, ...path] : path;
      // The server's own names are these three parts with dots between.
      const asks = whole.length === 3 && whole.every((part) => plain.test(part));
      return asks ? tables.table(whole, signal) : { kind: "unknown" };
    },
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  };
}

/** What the server lets names be made of, without what would end one in a path. */
const plain = /^[^\s./\p{Cc}]{1,255}$/u;

async function said(
  path: readonly string[],
  { url, credentials }: UnityConfig,
  http: HttpClient,
): Promise<Said> {
  const name = path.map(encodeURIComponent).join(".");
  const answer = await http.ask({
    url: `${url.replace(/\/$/, "")}/api/2.1/unity-catalog/tables/${name}`,
    ...(credentials !== undefined && { token: secretText(credentials.bearer) }),
  });
  if (!answer.ok) return answer.error;
  const { status, json } = answer.value;
  if (status === 404) return isNotFound(json) ? undefined : "status 404";
  if (status !== 200) return `status ${status}`;
  const read = tableSchema.safeParse(json);
  if (!read.success) return "no table in the answer";
  const table = read.data;
  const names = [table.catalog_name, table.schema_name, table.name].map(lower);
  if (names.join(".") !== path.join(".")) return "another table in the answer";
  if (table.columns.length === 0) return "no columns in the answer";
  const columns = table.columns.toSorted(
    (one, other) => (one.position ?? 0) - (other.position ?? 0),
  );
  return {
    isView: !tableTypes.has(table.table_type),
    columns: columns.map((column) => column.name),
    types: columns.map((column) => column.type_text ?? ""),
  };
}

/** A proxy that does not know the address says 404 as well, and knows nothing of tables. */
function isNotFound(json: unknown): boolean {
  return notFoundSchema.safeParse(json).success;
}

const notFoundSchema = z.looseObject({
  error_code: z.string().regex(/NOT_?FOUND|DOES_NOT_EXIST/i),
});

/** Whatever else there is (VIEW, MATERIALIZED_VIEW, STREAMING_TABLE, METRIC_VIEW and more) shows what its own text says. */
const tableTypes: ReadonlySet<string> = new Set(["MANAGED", "EXTERNAL"]);

const column = z.looseObject({
  name: z.string().min(1).max(1_000),
  type_text: z.string().max(100_000).nullish(),
  position: z.int().nullish(),
});
const tableSchema = z.looseObject({
  name: z.string(),
  catalog_name: z.string(),
  schema_name: z.string(),
  table_type: z.string(),
  columns: z.array(column).max(10_000),
});
