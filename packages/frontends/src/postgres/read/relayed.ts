/**
 * The statements of a session whose engines all speak PostgreSQL's protocol: what the frontend would answer itself
 * (catalogs, functions about the server, cursors) is the server's then, which knows better.
 *
 * What stays here is what would be lost on a connection that sessions share: settings, names of prepared
 * statements, and what the gateway decides.
 */
import { ok } from "@gateway/core/result.ts";
import { zoneOf } from "@gateway/core/type/zone.ts";
import { namesSignal, readSignal } from "./signalStatement.ts";
import {
  firstWords,
  Read,
  type Kind,
  type ReadStatement,
  type StatementReader,
} from "./statement.ts";
import type { LocalStatement } from "../commands/local.ts";

/**
 * What passes to the server: nothing; what no connection keeps (`shared`); also what a connection keeps, because it
 * then stays with the session (`asked`), or does so already (`kept`); or all that is not the gateway's own (`always`).
 */
export type Relaying = "no" | "shared" | "asked" | "kept" | "always";

/** Reads as `read` does, and passes to the server what is its own, as far as `relays` says. */
export function relayedReader(read: StatementReader, relays: () => Relaying): StatementReader {
  // Texts that are remembered come as the same lists.
  const known = new Map<Relaying, WeakMap<readonly ReadStatement[], readonly ReadStatement[]>>();
  return (text) => {
    const statements = read(text);
    const relaying = relays();
    if (!statements.ok || relaying === "no") return statements;
    let remembered = known.get(relaying);
    if (remembered === undefined) {
      remembered = new WeakMap();
      known.set(relaying, remembered);
    }
    const before = remembered.get(statements.value);
    if (before !== undefined) return ok(before);
    const relayed = statements.value.map((one) => relayedOf(one, relaying));
    remembered.set(statements.value, relayed);
    return ok(relayed);
  };
}

function relayedOf(read: ReadStatement, relaying: Relaying): ReadStatement {
  const [word = "", second = ""] = firstWords((read.whole ?? read).sql);
  const copies = word === "COPY";
  const { kind } = read;
  const stays = kind.kind === "local" && isKept(kind.local, word, relaying);
  if (!stays && kind.kind === "local" && isJudged(kind.local)) {
    const { sql, start } = read;
    return { sql, start, kind, statement: read.statement, asked: true };
  }
  if (!stays && !copies && !passes(kind, word, relaying)) return read;
  return toServer(read, { copies, word, second });
}

/** True for what is the server's wherever the session's statements run. */
function passes(kind: Kind, word: string, relaying: Relaying): boolean {
  if (isRefused(kind)) return serversWords.has(word);
  return isServers(kind) && !(passesAlone(relaying) && asksProcess(kind));
}

function toServer(
  read: ReadStatement,
  { copies, word, second }: { copies: boolean; word: string; second: string },
): ReadStatement {
  const { kind } = read;
  const { sql, start } = read.whole ?? read;
  const signal = word === "SELECT" ? readSignal(sql, second) : undefined;
  return new Read(sql, start, toQuery, {
    relayed: true,
    copies,
    varies: word === "FETCH",
    together: kind.kind === "local" && isUndone(kind.local),
    cursor: kind.kind === "cursor" ? kind.cursor : undefined,
    signal,
    signals: signal === undefined && namesSignal(sql),
  });
}

const toQuery: Kind = { kind: "query" };

/** Each statement runs on a connection of its own. */
function passesAlone(relaying: Relaying): boolean {
  return relaying === "shared" || relaying === "asked";
}

/**
 * True for a client that asks which process is its own. Where no connection is, that is the number by which the gateway
 * knows the session: it ends what the session runs, and notifications name it.
 */
function asksProcess(kind: Kind): boolean {
  return (
    kind.kind === "local" &&
    kind.local.kind === "ask" &&
    kind.local.questions.every(({ ask }) => ask === "pg_backend_pid")
  );
}

/** A transaction that fails undoes it. */
function isUndone({ kind }: LocalStatement): boolean {
  return kind === "set" || kind === "reset" || kind === "resetAll" || kind === "ask";
}

/** True for what the server keeps for the session, on a connection that stays with it. */
function isKept(local: LocalStatement, word: string, relaying: Relaying): boolean {
  // A transaction begins here or nowhere, so one that could not be read is nobody's.
  if (word === "BEGIN" || word === "START") return false;
  if (relaying === "always") return !isGateways(local);
  if (relaying === "shared" || relaying === "no") return false;
  // Another identity is refused wherever connections are shared.
  if (local.kind === "refuse") return word !== "SET" && word !== "RESET";
  return relaying === "kept" && local.kind === "nothing" && keptWords.has(word);
}

/** Statements that do nothing where no connection is kept. */
const keptWords: ReadonlySet<string> = new Set(["UNLISTEN", "DISCARD"]);

/**
 * The gateway's own settings, and those under which a server would read a text in another way than it was read here.
 */
const gateways = /^(?:gateway\..*|client_encoding|standard_conforming_strings)$/i;

/** Settings that are the gateway's, and statements about names that are known here and there. */
function isGateways(local: LocalStatement): boolean {
  switch (local.kind) {
    case "set":
      return local.changes.every(({ name }) => gateways.test(name));
    case "reset":
    case "show":
      return gateways.test(local.name);
    case "ask":
      return local.questions.some(({ arguments: [name = ""] }) => gateways.test(name));
    case "deallocate":
    case "discardAll":
      return true;
    case "arrayTypes":
    case "showAll":
    case "resetAll":
    case "nothing":
    case "refuse":
      return false;
  }
}

/** Words of statements that are refused for other engines only. */
const serversWords: ReadonlySet<string> = new Set(["DECLARE", "FETCH", "MOVE", "CLOSE", "NOTIFY"]);

function isRefused(kind: Kind): boolean {
  return kind.kind === "local" && kind.local.kind === "refuse";
}

function isServers(kind: Kind): boolean {
  switch (kind.kind) {
    case "query":
      return true;
    case "local":
      return isServersOwn(kind.local);
    case "declare":
    case "cursor":
      return true;
    case "copy":
    case "empty":
    case "transaction":
    case "division":
      return false;
  }
}

/** Settings whose every value the gateway knows as well as the server does, and those that it keeps itself. */
const unasked =
  /^(?:application_name|client_encoding|client_min_messages|datestyle|extra_float_digits|search_path|timezone|transaction_\w+|default_transaction_\w+|standard_conforming_strings|bytea_output|(?:statement|idle_\w+|transaction)_timeout|.*\..*)$/;

function isJudged(local: LocalStatement): boolean {
  if (local.kind !== "set") return false;
  return local.changes.some(({ name, value }) => !unasked.test(name) || isServersZone(name, value));
}

/** A zone that only the server may know. */
function isServersZone(name: string, value: string | undefined): boolean {
  return name === "timezone" && value !== undefined && zoneOf(value) === undefined;
}

/** Settings that the gateway keeps, so that the server does not know them. */
const kept = /^(?:gateway\..*|statement_timeout|session_authorization|role|client_encoding)$/;

function isServersOwn(local: LocalStatement): boolean {
  switch (local.kind) {
    case "ask":
      // It changes a setting, which is kept here.
      return local.questions.every(({ ask }) => ask !== "set_config");
    case "arrayTypes":
    case "showAll":
      return true;
    case "show":
      return !kept.test(local.name);
    case "set":
    case "reset":
    case "resetAll":
    case "deallocate":
    case "discardAll":
    case "nothing":
    case "refuse":
      return false;
  }
}
