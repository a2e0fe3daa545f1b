/**
 * Access control of one generation: a statement is read, each of its tables is judged by its whole name, what was
 * decided is written into the text, and the new text is read again and must have every table where it was put.
 *
 * Whatever is not understood to its last part is denied. The engine is sent nothing that was not read in its own
 * dialect as well.
 */
import type { AccessControlConfig } from "@gateway/contract/config/accessControl.ts";
import { abortError, type GatewayError } from "../error.ts";
import type { PolicyLog } from "../guard/told.ts";
import { isOfSession } from "../guard/kinds.ts";
import type { Clock } from "../port/clock.ts";
import type { Catalog, CatalogAnswer } from "../port/sql/catalog.ts";
import type { Policy, PolicyQuestion } from "../port/sql/policy.ts";
import type {
  SqlAction,
  SqlReading,
  TableReference,
  TouchedColumns,
  UnderstoodSql,
} from "../port/sql/sqlReading.ts";
import type { SqlWork } from "../port/sql/sqlWork.ts";
import type { Routed } from "../query/query.ts";
import { err, ok, type Result } from "../result.ts";
import type { Dialect } from "../sql/dialect.ts";
import { relex } from "../sql/rewrite/relex.ts";
import { readStatement } from "../sql/statement.ts";
import { listed, lookingUp, touchedOf, type ListedDecision, type LookUp } from "./catalogued.ts";
import { lower, missingParts } from "./names.ts";
import { JudgedTexts, type Judged, type TableJudgement } from "./known/judged.ts";
import { agrees, endOf, namesOf, startOf } from "./places.ts";
import {
  denied,
  notUnderstood,
  noTable,
  undecided,
  unfinished,
  unproven,
  unread,
} from "./refusals.ts";
import { rewritten, type Placed, type Rewritten } from "./rewrite.ts";
import { passesUnread } from "./session.ts";

export interface AccessControl {
  /** The text that the caller may run, or `policy.denied`. `dialects`: those of the engines it may reach. */
  judge(
    query: Routed,
    dialects: readonly Dialect[],
    log: PolicyLog,
    signal: AbortSignal,
  ): Promise<Result<string, GatewayError>>;
  /** The same, asked anew, with what was decided of each table; nothing of it is remembered. */
  explain(
    query: Routed,
    dialects: readonly Dialect[],
    signal: AbortSignal,
  ): Promise<Pick<Judged, "outcome" | "tables">>;
  /** Whether a listing shows the caller a table at all, and which of its columns. */
  visible(query: Routed, table: readonly string[], signal: AbortSignal): Promise<ListedDecision>;
  audience(query: Routed): string;
}

export interface AccessParts {
  readonly policy: Policy;
  /** Absent on a host without threads, where every statement is denied. */
  readonly sql: SqlWork | undefined;
  /** Absent where the configuration names none. */
  readonly catalog?: Catalog | undefined;
  /** Where it is absent, no text is remembered whose decisions end. */
  readonly clock?: Pick<Clock, "nowMs"> | undefined;
}

type Settings = Pick<AccessControlConfig, "defaultCatalog" | "defaultSchema" | "functions"> & {
  /** Where they decide; they say how long names are. */
  readonly rules?: readonly { readonly tables: readonly string[] }[];
  /** Whether what the catalog does not know as a table is refused. */
  readonly views?: "asTables" | "deny";
  /** Where somebody else decides: parts that a name has at least. */
  readonly nameParts?: number;
};

/** Grows while a text is judged. */
interface Judging {
  readonly acted: string[];
  readonly tables: TableJudgement[];
  /** When what the catalog said ends. */
  readonly ends: number[];
  readonly signal: AbortSignal;
  /** Whether the columns of its tables are wanted. */
  readonly columns: boolean;
}

export function accessControl(settings: Settings, parts: AccessParts): AccessControl {
  const { policy } = parts;
  const texts = new JudgedTexts(parts.clock);
  const judge = new Judge(settings, parts);
  return {
    judge: async (query, dialects, log, signal) => {
      const { sql, session } = query;
      if (passes(query)) return ok(sql);
      const { catalog, schema, dialect } = session;
      const place = parts.catalog?.perGroup === true ? query.group : undefined;
      const others = [policy.audience(session), catalog, schema, dialects, place];
      const text = { sql, dialect, others };
      let found = texts.get(text);
      if (found === undefined) {
        found = await judge.judged(query, dialects, { signal, columns: policy.wantsColumns });
        texts.put(text, found);
      }
      for (const action of found.acted) log.acted(action);
      return found.outcome;
    },
    explain: async (query, dialects, signal) =>
      passes(query)
        ? { outcome: ok(query.sql), tables: [] }
        : await judge.judged(query, dialects, { signal, columns: true }),
    visible: async ({ session, group }, table, signal) => {
      const name = table.map(lower);
      const asked = { session, table: name, action: "select", columns: undefined } as const;
      const lookUp = lookingUp(parts.catalog, name, { signal, ends: [], group });
      return listed(await policy.decide(asked, signal), lookUp);
    },
    audience: ({ session }) => policy.audience(session),
  };
}

/** Without tables, and without a way to any. */
function passes({ statement }: Routed): boolean {
  return isOfSession(statement) || passesUnread(statement);
}

class Judge {
  readonly #settings: Settings;
  readonly #parts: AccessParts;
  readonly #functions: readonly string[];
  /** Parts that a name must have for every rule to know it. */
  readonly #nameParts: number;
  /** Names that no part of a WITH may have, so that nobody can take one for the other. */
  readonly #ruled: ReadonlySet<string>;

  constructor(settings: Settings, parts: AccessParts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#functions = settings.functions.map((name) => name.toLowerCase());
    const { rules = [], nameParts = 1 } = settings;
    const patterns = rules.flatMap(({ tables }) => tables.map((each) => each.split(".")));
    const catalogParts = parts.catalog?.nameParts ?? 1;
    this.#nameParts = Math.max(nameParts, catalogParts, ...patterns.map(({ length }) => length));
    this.#ruled = new Set(patterns.map((pattern) => lower(pattern[pattern.length - 1] ?? "")));
  }

  async judged(
    query: Routed,
    dialects: readonly Dialect[],
    asked: Pick<Judging, "signal" | "columns">,
  ): Promise<Judged> {
    const judging: Judging = { acted: [], tables: [], ends: [], ...asked };
    const written = await this.#written(query, dialects, judging);
    const outcome = written.ok ? ok(written.value.sql) : written;
    const { acted, tables } = judging;
    if (!outcome.ok) acted.push(`access: denied: ${outcome.error.message}`);
    const decided = tables.map(({ decision }) =>
      decision.kind === "unavailable" ? 0 : (decision.untilMs ?? Number.POSITIVE_INFINITY),
    );
    return {
      outcome,
      moved: written.ok ? written.value.moved : [],
      acted,
      tables,
      untilMs: Math.min(Number.POSITIVE_INFINITY, ...decided, ...judging.ends),
    };
  }

  async #written(
    query: Routed,
    dialects: readonly Dialect[],
    judging: Judging,
  ): Promise<Result<Rewritten, GatewayError>> {
    const { sql, statement, session } = query;
    const { dialect } = session;
    if (statement.doubt !== undefined) return err(notUnderstood("engines may read it in two ways"));
    const { acted, signal } = judging;
    const read = await this.#read({ sql, dialect }, query, judging);
    if (!read.ok) return read;
    const named = new Set(read.value.tables.map((table) => namesOf(table).at(-1)));
    // Who else decides may know tables that nobody here does, but those of the statement are enough to be taken wrong.
    const taken = (part: string): boolean =>
      this.#settings.rules === undefined ? named.has(part) : this.#ruled.has(part);
    const clash = read.value.parts.find(taken);
    if (clash !== undefined) return err(notUnderstood("a part of WITH has the name of a table"));
    const placed: Placed[] = [];
    for (const reference of read.value.tables) {
      const decided = await this.#decided(reference, read.value, query, judging);
      if (!decided.ok) return decided;
      placed.push(decided.value.placed);
      acted.push(decided.value.said);
    }
    const written = rewritten(sql, placed, dialect);
    const proven = await this.#proven(written, query, dialects, signal);
    return proven.ok ? ok(written) : proven;
  }

  async #decided(
    reference: TableReference,
    { action, looksAtTarget }: UnderstoodSql,
    { session, group }: Routed,
    judging: Judging,
  ): Promise<Result<{ placed: Placed; said: string }, GatewayError>> {
    const { catalog, schema } = session;
    const { defaultCatalog, defaultSchema } = this.#settings;
    const place = { catalog: catalog ?? defaultCatalog, schema: schema ?? defaultSchema };
    const own = namesOf(reference);
    const missing = missingParts(own, this.#nameParts, place);
    if (missing === undefined) return err(unfinished(own));
    const table = [...missing.map(lower), ...own];
    const name = table.join(".");
    const touched = reference.columns;
    // Who was told that columns are known may not be asked as if there were none.
    if (judging.columns && touched === undefined) return err(unproven);
    const lookUp = lookingUp(this.#parts.catalog, table, { ...judging, group });
    const decide = async (wanted: SqlAction): Promise<ListedDecision> => {
      const asked = { session, table, action: wanted };
      const decision = await this.#asked(asked, touched, { lookUp, signal: judging.signal });
      judging.tables.push({ table: name, action: wanted, touched, decision });
      return decision;
    };
    const { written } = reference;
    const decision = await decide(written ? action : "select");
    const looked = written && looksAtTarget ? await decide("select") : decision;
    if (judging.signal.aborted) return err(abortError(judging.signal));
    const shown = shownOf(name, written, decision, looked);
    if (!shown.ok) return shown;
    // A table that is made or dropped need not be there.
    const mustBeTable = this.#settings.views === "deny" && !(written && action === "ddl");
    const missed = mustBeTable ? missedIn(name, await lookUp()) : undefined;
    if (missed !== undefined) return err(missed);
    const { view, rule } = shown.value;
    if (view !== undefined && !reference.plain) {
      return err(notUnderstood(`what follows the table ${name}`));
    }
    const said = `access ${rule}: ${name}${view === undefined ? "" : " narrowed"}`;
    return ok({ placed: { reference, missing, view }, said });
  }

  async #asked(
    question: Omit<PolicyQuestion, "columns">,
    touched: TouchedColumns | undefined,
    { lookUp, signal }: { readonly lookUp: LookUp; readonly signal: AbortSignal },
  ): Promise<ListedDecision> {
    const { policy, catalog } = this.#parts;
    if (!policy.wantsColumns || touched === undefined) {
      return listed(await policy.decide({ ...question, columns: undefined }, signal), lookUp);
    }
    const columns = await touchedOf(touched, catalog && lookUp);
    if (columns === undefined) return { kind: "unavailable" };
    return listed(await policy.decide({ ...question, columns }, signal), lookUp);
  }

  /** The new text, in the client's dialect and as each engine is sent it, has every table by its whole name, and no other. */
  async #proven(
    { sql, names }: Rewritten,
    query: Routed,
    dialects: readonly Dialect[],
    signal: AbortSignal,
  ): Promise<Result<void, GatewayError>> {
    const { dialect } = query.session;
    const asked = { signal, columns: false };
    const own = await this.#read({ sql, dialect }, query, asked);
    if (!own.ok) return own;
    const { tables } = own.value;
    const stand = tables.toSorted((one, other) => startOf(one) - startOf(other));
    const isWhole =
      stand.length === names.length &&
      stand.every((table, index) => {
        const { start, name } = names[index] ?? { start: -1, name: "" };
        return startOf(table) === start && sql.slice(start, endOf(table)) === name;
      });
    if (!isWhole) return err(unproven);
    const wanted = JSON.stringify(stand.map(namesOf));
    for (const engine of dialects) {
      if (engine === dialect) continue;
      const sent = relex(sql, dialect, engine);
      if (!sent.ok) return sent;
      const read = await this.#read({ sql: sent.value, dialect: engine }, query, asked);
      if (!read.ok) return read;
      const there = read.value.tables.toSorted((one, other) => startOf(one) - startOf(other));
      if (JSON.stringify(there.map(namesOf)) !== wanted) return err(unproven);
    }
    return ok(undefined);
  }

  async #read(
    { sql, dialect }: { readonly sql: string; readonly dialect: Dialect },
    { session }: Routed,
    { signal, columns }: Pick<Judging, "signal" | "columns">,
  ): Promise<Result<UnderstoodSql, GatewayError>> {
    const { sql: work } = this.#parts;
    if (work === undefined) return err(notUnderstood("there is no parser on this host"));
    // Which engine reads it is not known, and for some this comment is code.
    const mayHoldCode = dialect === "generic" && sql.includes("/*!");
    if (mayHoldCode || readStatement(sql, dialect).doubt !== undefined) {
      return err(notUnderstood("engines may read it in two ways"));
    }
    const answer = await work.ask({
      task: "read",
      input: { sql, dialects: [dialect], functions: this.#functions, columns },
      length: sql.length,
      user: session.identity.user,
      signal,
    });
    if (signal.aborted) return err(abortError(signal));
    if (!answer.ok) return err(unread[answer.error]);
    const [reading] = answer.value;
    return readingOf(sql, dialect, reading);
  }
}

/** What the caller is shown of a table, as it stands in the statement. `looked`: of one that is written and read from. */
function shownOf(
  name: string,
  written: boolean,
  decision: ListedDecision,
  looked: ListedDecision,
): Result<Extract<ListedDecision, { kind: "allow" }>, GatewayError> {
  if (decision.kind === "unavailable" || looked.kind === "unavailable") return err(undecided);
  if (decision.kind === "deny") return err(denied(name));
  // What is written can be neither filtered nor masked, and a condition on a hidden column tells its values.
  const narrows = looked.kind === "deny" || looked.view !== undefined;
  if (written && (narrows || decision.view !== undefined)) {
    return err(denied(name, "for writing: not all of it may be seen"));
  }
  return ok(decision);
}

/** Why a name is no table to the catalog, where it has to be one. */
function missedIn(name: string, known: CatalogAnswer): GatewayError | undefined {
  if (known.kind === "unavailable") return undecided;
  return known.kind === "unknown" || known.isView ? noTable(name) : undefined;
}

function readingOf(
  sql: string,
  dialect: Dialect,
  reading: SqlReading | undefined,
): Result<UnderstoodSql, GatewayError> {
  if (reading === undefined) return err(unproven);
  if (!reading.understood) return err(notUnderstood(reading.reason));
  return agrees(sql, dialect, reading) ? ok(reading) : err(notUnderstood("where its tables are"));
}
