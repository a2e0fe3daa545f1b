/**
 * The types of a statement's columns, for translation: what the catalog says of its tables, in time or not at all. Only
 * classes of types are told, because the client's dialect names them in other ways than the engine.
 */
import { missingParts } from "../../police/names.ts";
import type { Clock } from "../../port/clock.ts";
import type { Catalog, CatalogAnswer } from "../../port/sql/catalog.ts";
import type { ColumnClass, TypedTable } from "../../port/sql/sqlWork.ts";
import type { Admitted } from "../../query/query.ts";
import { tableDefault } from "../../port/sql/catalog.ts";

/** Tables of one statement that are asked for. */
const tablesMax = 50;

/** `tables` is undefined where not all of them could be known: a bare column may then be any one's. */
export interface FoundTypes {
  readonly tables: readonly TypedTable[] | undefined;
  /** On the monotonic clock, until when that counts. */
  readonly untilMs: number;
}

type Asking = Pick<Admitted, "session" | "group">;

export interface ColumnTypes {
  /** What an answer hangs on beside the text. */
  placeOf(query: Asking): string;
  /** `tables`: as the statement names them. Never rejects. */
  of(
    tables: readonly (readonly string[])[],
    query: Asking,
    signal: AbortSignal,
  ): Promise<FoundTypes>;
}

export function columnTypes({
  catalog,
  clock,
  timeoutMs,
}: {
  readonly catalog: Catalog | undefined;
  readonly clock: Clock;
  readonly timeoutMs: number;
}): ColumnTypes {
  return {
    placeOf: ({ session, group }) => JSON.stringify([group, session.catalog, session.schema]),
    of: async (tables, { session, group }, signal) => {
      const nothing = { tables: undefined, untilMs: clock.nowMs() };
      const paths = tables.map((names) => pathOf(names, catalog, session));
      if (catalog === undefined || tables.length > tablesMax) return nothing;
      const limit = new AbortController();
      const leave = (): void => limit.abort();
      signal.addEventListener("abort", leave, { once: true });
      if (signal.aborted) leave();
      using _timer = clock.timer(timeoutMs, leave);
      const answers = await Promise.all(
        paths.map(async (path) =>
          path === undefined ? unknown : await catalog.table(path, limit.signal, group),
        ),
      );
      signal.removeEventListener("abort", leave);
      return foundIn(tables, answers) ?? nothing;
    },
  };
}

const unknown: CatalogAnswer = { kind: "unknown" };

/** The whole name; undefined where nobody says where the table is. */
function pathOf(
  names: readonly string[],
  catalog: Catalog | undefined,
  { catalog: sessionCatalog, schema, settings }: Asking["session"],
): readonly string[] | undefined {
  const parts = catalog?.nameParts ?? 2;
  const place = { catalog: sessionCatalog, schema };
  const missing = missingParts(names, parts, place);
  if (missing !== undefined) return [...missing.map((part) => part.toLowerCase()), ...names];
  // Where the engine itself would look, unless the session told it to look elsewhere.
  const isBare = names.length === 1 && parts === 2 && !settings.has("search_path");
  return isBare ? [tableDefault, ...names] : undefined;
}

/** Undefined where one was not told. */
function foundIn(
  tables: readonly (readonly string[])[],
  answers: readonly CatalogAnswer[],
): FoundTypes | undefined {
  const typed: TypedTable[] = [];
  let untilMs = Number.POSITIVE_INFINITY;
  for (const [index, answer] of answers.entries()) {
    if (answer.kind === "unavailable") return undefined;
    untilMs = Math.min(untilMs, answer.untilMs ?? Number.POSITIVE_INFINITY);
    if (answer.kind === "unknown" || answer.types === undefined) continue;
    const { types } = answer;
    const columns = answer.columns.map((name, place) => ({
      name: name.toLowerCase(),
      type: classOf(types[place] ?? ""),
    }));
    typed.push({ path: tables[index] ?? [], columns });
  }
  return { tables: typed.length === tables.length ? typed : undefined, untilMs };
}

const integer =
  /^(?:u?(?:tiny|small|medium|big|huge)?int|integer|u?int(?:2|4|8|16|32|64)|(?:small|big)?serial|byte|short|long)(?:\(\d+\))?(?: unsigned)?$/;
const wide = /^u?int(?:128|256)$|^u?hugeint$/;

/** Whatever is no number counts as a text, with which nothing is computed. */
export function classOf(type: string): ColumnClass {
  const own = type.trim().toLowerCase();
  const inner = /^(?:nullable|lowcardinality)\((.*)\)$/.exec(own)?.[1];
  if (inner !== undefined) return classOf(inner);
  if (wide.test(own)) return "numeric";
  if (integer.test(own)) return "bigint";
  if (/^(?:float|double|real)/.test(own)) return "double precision";
  return /^(?:decimal|numeric)/.test(own) ? "numeric" : "text";
}
