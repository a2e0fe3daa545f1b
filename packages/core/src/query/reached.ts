/** What a frontend knows of the engines behind a session: enough to choose between their words and its own. */
import type { Dialect } from "../sql/dialect.ts";

/** An engine, as far as it is known without asking it. */
export interface ReachedEngine {
  /** What it reads; undefined where no lexer of ours knows that. */
  readonly dialect?: Dialect | undefined;
  /** Empty until they are known. */
  readonly catalogs: readonly string[];
  /** The client's protocol that the engine speaks itself, so that calls and rows pass as they are. */
  readonly speaks?: "postgres" | "mysql" | undefined;
  /** What a server of that protocol reports of itself, such as `server_version`, or `version` of MySQL's; absent until one was reached. */
  readonly statuses?: ReadonlyMap<string, string> | undefined;
  /** Beside `speaks`: whether a connection stays with a session that leaves something on it, or with every session. */
  readonly keeps?: "asked" | "always" | undefined;
}

/** True when there is an engine, and every one of them reads statements of this dialect as they are. */
export function allRead(dialect: Dialect, engines: readonly ReachedEngine[]): boolean {
  return engines.length > 0 && engines.every((engine) => engine.dialect === dialect);
}

/** True when there is an engine, and every one of them speaks PostgreSQL's protocol. */
export function allSpeakPostgres(engines: readonly ReachedEngine[]): boolean {
  return factsOf(engines).postgres;
}

/** True when there is an engine, and every one of them speaks MySQL's protocol to a client of it. */
export function allSpeakMysql(engines: readonly ReachedEngine[]): boolean {
  return factsOf(engines).mysql;
}

/**
 * Whether connections stay with sessions, so that what a server keeps of a session passes to it: `always` and `asked`
 * only where that holds for every engine.
 */
export function keepingOf(engines: readonly ReachedEngine[]): ReachedEngine["keeps"] {
  return factsOf(engines).keeping;
}

interface Facts {
  readonly engines: readonly ReachedEngine[];
  readonly postgres: boolean;
  readonly mysql: boolean;
  readonly keeping: ReachedEngine["keeps"];
}

/** Of the list that was looked at last: each statement asks several times, and none of it changes in a list. */
let last: Facts | undefined;

function factsOf(engines: readonly ReachedEngine[]): Facts {
  if (last?.engines === engines) return last;
  const some = engines.length > 0;
  const postgres = some && engines.every((engine) => engine.speaks === "postgres");
  const mysql = some && engines.every((engine) => engine.speaks === "mysql");
  last = { engines, postgres, mysql, keeping: postgres ? keptBy(engines) : undefined };
  return last;
}

function keptBy(engines: readonly ReachedEngine[]): ReachedEngine["keeps"] {
  if (engines.every(({ keeps }) => keeps === "always")) return "always";
  return engines.every(({ keeps }) => keeps !== undefined) ? "asked" : undefined;
}

/** Catalog names that these engines know by now, each once. */
export function catalogsOf(engines: readonly ReachedEngine[]): readonly string[] {
  return [...new Set(engines.flatMap(({ catalogs }) => catalogs))];
}
