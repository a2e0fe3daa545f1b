/**
 * Translation of statements between dialects. The work is done in a thread with the grammars (port/sql/sqlWork.ts);
 * here is decided what is translated, what becomes of an answer, and what is remembered.
 *
 * What a text becomes follows from the text, the two dialects and the configuration, never from how busy the thread
 * is: a statement that meant one thing in one hour and another in the next would be worse than a refusal.
 */
import type { TranslationConfig } from "@gateway/contract/config/translation.ts";
import { abortError, gatewayError, type GatewayError } from "../error.ts";
import type { Host } from "../port/host.ts";
import type { SqlWorkFault, TranslatedText, TranslateInput } from "../port/sql/sqlWork.ts";
import type { Admitted } from "../query/query.ts";
import { err, ok, type Result } from "../result.ts";
import type { StatementKind } from "../sql/classify/statementKind.ts";
import type { Dialect } from "../sql/dialect.ts";
import { longTextUnits } from "../sql/reading/reading.ts";
import { inOneGo, type Steps } from "../sql/reading/steps.ts";
import { relexSteps } from "../sql/rewrite/relex.ts";
import { keeps, withoutComments, type Written } from "../sql/translated.ts";
import { readStatement } from "../sql/statement.ts";
import { ByteLru } from "../tool/byteLru.ts";
import { SignalledClient } from "../tool/canceller.ts";
import { columnTypes, type ColumnTypes } from "./catalog/types.ts";
import type { Catalog } from "../port/sql/catalog.ts";

/** The engine's text; undefined where the client's own is sent, as without translation. */
export type Translation = Result<string | undefined, GatewayError>;

export interface Translator {
  /** A promise where the text is not remembered. `target` is undefined for an engine of no known dialect. */
  translated(
    query: Translatable,
    target: Dialect | undefined,
    signal: AbortSignal,
  ): Translation | Promise<Translation>;
}

export type Translatable = Pick<
  Admitted,
  "sql" | "allowedSql" | "session" | "statement" | "group" | "mysql"
>;

/** Statements that read or change data. All others are about the session or the engine, and go as they are. */
const translatedKinds: ReadonlySet<StatementKind> = new Set<StatementKind>([
  "select",
  "insert",
  "update",
  "delete",
  "merge",
  "ddl",
]);

/** Bytes of remembered texts, and the UTF-16 units of the longest. */
const bytesMax = 16 * 1024 * 1024;
const rememberedLengthMax = 32 * 1024;

type TranslatorHost = Pick<Host, "sql" | "slices" | "clock" | "localResolutionMs">;

/** Undefined where nothing is translated. `catalog`: who tells columns' types, where the configuration asks for them. */
export function translatorOf(
  config:
    | Pick<TranslationConfig, "mode" | "errorOnUnsupported" | "schemaResolutionTimeoutMs">
    | undefined,
  host: TranslatorHost,
  catalog?: Catalog,
): Translator | undefined {
  if (config === undefined || config.mode === "off") return undefined;
  const proves = config.mode === "strict";
  const rules = { proves, refuses: proves || config.errorOnUnsupported };
  const timeoutMs = host.localResolutionMs ?? config.schemaResolutionTimeoutMs;
  const types =
    timeoutMs === undefined ? undefined : columnTypes({ catalog, clock: host.clock, timeoutMs });
  return new ThreadTranslator(host, rules, types);
}

interface Rules {
  /** What can not be translated is refused. */
  readonly refuses: boolean;
  /** What was not tested counts as what can not be translated. */
  readonly proves: boolean;
}

/** What is asked of the thread, in the grammar and the lexis of its dialect. */
interface Source extends Written {
  readonly target: Dialect;
}

/** With the types that are known, or that they are wanted. */
type Asked = Source & Pick<TranslateInput, "types">;

/** `untilMs`: on the monotonic clock, when the types that it hangs on have to be asked for again. */
interface Remembered {
  readonly found: Translation;
  readonly untilMs: number;
}

class ThreadTranslator implements Translator {
  readonly #host: TranslatorHost;
  readonly #rules: Rules;
  /** By the client's text, then by its dialects: so a text is hashed once and copied never. */
  readonly #known = new ByteLru<ReadonlyMap<string, Remembered>>(bytesMax);
  readonly #types: ColumnTypes | undefined;

  constructor(host: TranslatorHost, rules: Rules, types: ColumnTypes | undefined) {
    this.#host = host;
    this.#rules = rules;
    this.#types = types;
  }

  translated(
    query: Translatable,
    target: Dialect | undefined,
    signal: AbortSignal,
  ): Translation | Promise<Translation> {
    const { session, allowedSql } = query;
    const { dialect } = session;
    const grammar = session.grammar ?? dialect;
    if (grammar === target || grammar === "generic") return ok(undefined);
    const statement =
      allowedSql === query.sql ? query.statement : readStatement(allowedSql, dialect);
    if (!translatedKinds.has(statement.kind)) return ok(undefined);
    if (target === undefined || target === "generic") return this.#given(noDialect);
    // What types say is one group's, and of where its session is.
    const place = this.#types === undefined ? "" : ` ${this.#types.placeOf(query)}`;
    const pair = `${grammar} ${dialect} ${target}${place}`;
    const known = this.#known.get(allowedSql)?.get(pair);
    if (known !== undefined && this.#holds(known)) return known.found;
    return this.#asked(query, { grammar, target, pair }, signal);
  }

  async #asked(
    query: Translatable,
    { grammar, target, pair }: { grammar: Dialect; target: Dialect; pair: string },
    signal: AbortSignal,
  ): Promise<Translation> {
    const { allowedSql, session } = query;
    const { user } = session.identity;
    const long = allowedSql.length > longTextUnits;
    const run = <Found>(steps: Steps<Found>): Found | Promise<Found | undefined> => {
      const client = new SignalledClient(signal);
      return long ? this.#host.slices.run({ steps, user, client }) : inOneGo(steps);
    };
    const sql = await run(sourceOf({ sql: allowedSql, dialect: session.dialect }, grammar));
    if (signal.aborted) return err(abortError(signal));
    if (sql === undefined) return this.#given(unread);
    const answer = await this.#typed({ sql, dialect: grammar, target }, query, signal);
    if (!answer.ok) return answer;
    const { made, untilMs } = answer.value;
    const after = made.kind === "translated" ? { sql: made.sql, dialect: target } : undefined;
    const kept = after && (await run(keeps({ sql, dialect: grammar }, after)));
    if (signal.aborted) return err(abortError(signal));
    const found = kept === false ? this.#given(notKept) : this.#found(made);
    const one = { found, untilMs };
    if (allowedSql.length <= rememberedLengthMax && this.#holds(one)) {
      this.#remember(allowedSql, pair, one);
    }
    return found;
  }

  #remember(text: string, pair: string, one: Remembered): void {
    const others = [...(this.#known.get(text) ?? [])].filter(([, other]) => this.#holds(other));
    const all = new Map([...others, [pair, one] as const]);
    this.#known.put(text, all, bytesOf(text, all));
  }

  #holds({ untilMs }: Remembered): boolean {
    return untilMs === Number.POSITIVE_INFINITY || this.#host.clock.nowMs() < untilMs;
  }

  /** Asks once more where it hangs on types, with those that could be had in time. */
  async #typed(
    source: Source,
    query: Translatable,
    signal: AbortSignal,
  ): Promise<Result<{ made: TranslatedText; untilMs: number }, GatewayError>> {
    const { user } = query.session.identity;
    const types = this.#types;
    const first = await this.#answer(
      { ...source, ...(types && { types: "wanted" }) },
      user,
      signal,
    );
    if (!first.ok) return first;
    if (first.value.kind !== "typesWanted" || types === undefined) {
      return ok({ made: first.value, untilMs: Number.POSITIVE_INFINITY });
    }
    const { tables, untilMs } = await types.of(first.value.tables, query, signal);
    if (signal.aborted) return err(abortError(signal));
    const typed = { ...source, ...(tables && { types: tables }) };
    const second = await this.#answer(typed, user, signal);
    return second.ok ? ok({ made: second.value, untilMs }) : second;
  }

  async #answer(
    { sql, dialect: source, target, types }: Asked,
    user: string,
    signal: AbortSignal,
  ): Promise<Result<TranslatedText, GatewayError>> {
    const { sql: work } = this.#host;
    if (work === undefined) return err(unsupported("there is no parser on this host"));
    const input = { sql, source, target, ...this.#rules, ...(types && { types }) };
    const answer = await work.ask({ task: "translate", input, length: sql.length, user, signal });
    if (signal.aborted) return err(abortError(signal));
    return answer.ok ? answer : err(faults[answer.error]);
  }

  #found(made: TranslatedText): Translation {
    switch (made.kind) {
      case "translated":
        return ok(made.sql);
      case "asWritten":
        return ok(undefined);
      case "unread":
      // Nobody is asked twice.
      case "typesWanted":
        return this.#given(unread);
      case "unsupported":
        return err(noMeaning);
      case "untested":
        return err(untested(made.words));
    }
  }

  /** A text that can not be translated: refused, or sent as the client wrote it. */
  #given(reason: GatewayError): Translation {
    return this.#rules.refuses ? err(reason) : ok(undefined);
  }
}

/** In the lexis of its grammar, without comments; undefined where it can not be read or written. */
function* sourceOf({ sql, dialect }: Written, grammar: Dialect): Steps<string | undefined> {
  const bare = yield* withoutComments(sql, dialect);
  if (bare === undefined || dialect === grammar) return bare;
  const written = yield* relexSteps(bare, dialect, grammar);
  return written.ok ? written.value : undefined;
}

/** Strings of two bytes a unit, and what an entry takes besides. */
function bytesOf(text: string, all: ReadonlyMap<string, Remembered>): number {
  let units = text.length;
  for (const { found } of all.values()) {
    units += 100 + (found.ok ? (found.value?.length ?? 0) : found.error.message.length);
  }
  return 2 * units + 200;
}

function unsupported(why: string): GatewayError {
  return gatewayError("query.unsupported", {
    message: `The statement is not translated for its engine: ${why}.`,
    sqlState: "0A000",
  });
}

function untested(words: readonly string[]): GatewayError {
  const shown = words.map((word) => (word.length > 80 ? `${word.slice(0, 80)}…` : word)).join(", ");
  return unsupported(`under strict nothing is that was not tested for this pair (${shown})`);
}

const noDialect = unsupported("the engine's dialect is not known");
const unread = unsupported("a part of it is not known in one of the two dialects");
const noMeaning = unsupported("for a part of it the engine has nothing of the same meaning");
const notKept = unsupported("a string, a name or a parameter would not stay as it is");
const busy = gatewayError("translation.busy");

const faults = {
  tooLong: unsupported("it is too long"),
  slow: unsupported("it takes too long"),
  busy,
  broken: busy,
  cancelled: gatewayError("query.cancelled"),
} as const satisfies Record<SqlWorkFault, GatewayError>;
