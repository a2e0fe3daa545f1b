/**
 * The statements of a session whose engines all speak PostgreSQL's protocol: what the frontend would answer itself
 * (catalogs, functions about the server, cursors) is the server's then, which knows better.
 *
 * What stays here is what would be lost on a connection that sessions share: settings, names of prepared
 * statements, and what the gateway decides.
 */
import { ok } from "@gateway/core/result.ts";
import { readStatement, type Statement } from "@gateway/core/sql/statement.ts";
import { firstWords, type Kind, type ReadStatement, type StatementReader } from "./statement.ts";
import type { LocalStatement } from "../commands/local.ts";

/** Reads as `read` does, and passes to the server what is its own while `relays` says so. */
export function relayedReader(read: StatementReader, relays: () => boolean): StatementReader {
  // Texts that are remembered come as the same lists.
  const known = new WeakMap<readonly ReadStatement[], readonly ReadStatement[]>();
  return (text) => {
    const statements = read(text);
    if (!statements.ok || !relays()) return statements;
    const before = known.get(statements.value);
    if (before !== undefined) return ok(before);
    const relayed = statements.value.map(relayedOf);
    known.set(statements.value, relayed);
    return ok(relayed);
  };
}

function relayedOf(read: ReadStatement): ReadStatement {
  const [word = ""] = firstWords((read.whole ?? read).sql);
  const copies = word === "COPY";
  const { kind } = read;
  if (kind.kind === "local" && isJudged(kind.local)) {
    const { sql, start } = read;
    return { sql, start, kind, statement: read.statement, asked: true };
  }
  if (!isServers(read.kind) && !copies && !(isRefused(read.kind) && serversWords.has(word)))
    return read;
  const { sql, start } = read.whole ?? read;
  let statement: Statement | undefined;
  return {
    sql,
    get statement() {
      return (statement ??= readStatement(sql, "postgres"));
    },
    start,
    kind: { kind: "query" },
    relayed: true,
    copies,
  };
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
  return local.kind === "set" && local.changes.some(({ name }) => !unasked.test(name));
}

/** Settings that the gateway keeps, so that the server does not know them. */
const kept = /^(?:gateway\..*|statement_timeout|session_authorization|role)$/;

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
