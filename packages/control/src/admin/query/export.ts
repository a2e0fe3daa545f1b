/**
 * `/admin/query-export`: the history as CSV (RFC 4180), page by page as its reader takes it.
 *
 * A spreadsheet takes a text for a formula that begins in certain ways, and texts come from clients: those get an
 * apostrophe before them, which a spreadsheet shows as text.
 */
import type { QueryRecord } from "@gateway/contract/record.ts";
import { z } from "zod";
import type { RecordFilter } from "../../store/store.ts";
import { noted } from "../audit.ts";
import { adminOf, allows } from "../auth/admin.ts";
import { unavailable } from "../refuse.ts";
import { route, type AdminApi } from "../route.ts";
import { historyFilterShape } from "./queries.ts";

const pageRows = 500;
/** What a spreadsheet holds. */
const rowsMax = 1_000_000;

const query = z.strictObject(historyFilterShape);

type Column = readonly [name: string, value: (record: QueryRecord) => string | number | undefined];

const columns: readonly Column[] = [
  ["id", ({ proxyQueryId }) => proxyQueryId],
  ["created", ({ createdAt }) => new Date(createdAt).toISOString()],
  ["status", ({ status }) => status],
  ["user", ({ user }) => user],
  ["frontend", ({ frontend }) => frontend],
  ["group", ({ clusterGroup }) => clusterGroup],
  ["cluster", ({ cluster }) => cluster],
  ["worker", ({ worker }) => worker],
  ["queueMs", ({ queueMs }) => queueMs],
  ["executionMs", ({ executionMs }) => executionMs],
  ["rows", ({ rowsReturned }) => rowsReturned],
  ["bytes", ({ bytesReturned }) => bytesReturned],
  ["errorCode", ({ errorCode }) => errorCode],
];
/** For operators and admins. */
const texts: readonly Column[] = [
  ["error", ({ errorMessage }) => errorMessage],
  ["sql", ({ sql }) => sql],
];

export function exportRoutes(api: AdminApi): void {
  const { deps } = api;
  const operation = {
    tag: "queries",
    summary: "The history as CSV, newest first",
    description: `Filters as of \`/admin/queries\`; at most ${rowsMax} rows. Texts (SQL, error messages) are for operators and admins.`,
    role: "viewer",
    query,
    responses: { 200: { description: "The rows.", contentType: "text/csv", schema: z.string() } },
  } as const;
  route(api, ["GET", "/query-export"], operation, async ({ c, query: asked }) => {
    const { group: clusterGroup, ...equal } = asked;
    const admin = adminOf(c);
    const shown = allows(admin.role, "operator") ? [...columns, ...texts] : columns;
    const rows = rowsOf(api, { ...equal, clusterGroup }, shown);
    // The first page shows whether the database answers; afterwards an answer can only break off.
    const first = await rows.next();
    if (first.done === true) return unavailable();
    const { name: by, address } = admin;
    const deed = { by, address, action: "export", target: "queries", detail: asked };
    const lost = await noted(deps, deed);
    return lost ?? csvResponse(first.value, rows);
  });
}

function csvResponse(first: string, rows: AsyncGenerator<string, void, void>): Response {
  const encoder = new TextEncoder();
  let next: string | undefined = first;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        if (next === undefined) {
          const step = await rows.next();
          if (step.done === true) {
            controller.close();
            return;
          }
          next = step.value;
        }
        controller.enqueue(encoder.encode(next));
        next = undefined;
      },
      cancel: async () => {
        await rows.return();
      },
    },
    { highWaterMark: 1 },
  );
  return new Response(stream, {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="queries.csv"',
    },
  });
}

/** Pages of lines, the first with the heads. Ends without any where the database does not answer the first. */
async function* rowsOf(
  { deps }: AdminApi,
  filter: RecordFilter,
  shown: readonly Column[],
): AsyncGenerator<string, void, void> {
  let cursor: string | undefined;
  let text = lineOf(shown.map(([name]) => name));
  for (let rows = 0; rows < rowsMax; rows += pageRows) {
    const page = await deps.store.records.list(filter, { limit: pageRows, cursor });
    if (!page.ok) {
      if (rows === 0) return;
      // Told in the file: half a table must not look like a whole one.
      yield lineOf(["The database did not answer: rows are missing from here on."]);
      return;
    }
    const { items, nextCursor } = page.value;
    text += items.map((record) => lineOf(shown.map(([, value]) => value(record)))).join("");
    yield text;
    text = "";
    cursor = nextCursor;
    if (cursor === undefined) return;
  }
}

function lineOf(cells: readonly (string | number | undefined)[]): string {
  return `${cells.map(cellOf).join(",")}\r\n`;
}

/** Numbers are ours; everything else may be a client's. */
export function cellOf(value: string | number | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "number") return String(value);
  const looksLikeFormula =
    /^[\s\p{Cc}\p{Cf}]*[=+\-@|%\uFF1D\uFF0B\uFF0D\uFF20]/u.test(value) || /^[\t\r\n]/.test(value);
  const text = looksLikeFormula ? `'${value}` : value;
  return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
