/**
 * The upper-case name a statement goes by: `CREATE TABLE`, `START TRANSACTION`, `COPY TO`.
 *
 * Frontends make command tags and update types from it. It is made from the statement's words, so an
 * unknown statement is named by its first word alone.
 */
import type { StatementKind } from "./statementKind.ts";

/** Words between a verb and the kind of object it acts on. */
const modifiers: ReadonlySet<string> = new Set(
  "OR REPLACE TEMP TEMPORARY GLOBAL LOCAL UNLOGGED RECURSIVE PERSISTENT UNIQUE ONLINE OFFLINE IGNORE BITMAP AGGREGATE CONSTRAINT DEFINER ALGORITHM SQL SECURITY CURRENT_USER INVOKER MERGE TEMPTABLE UNDEFINED TRANSIENT SECURE VOLATILE DYNAMIC".split(
    " ",
  ),
);

/** Kinds of objects. `MATERIALIZED VIEW` and the like are made of a qualifier and one of these. */
const objects: ReadonlySet<string> = new Set(
  "TABLE TABLES VIEW SCHEMA DATABASE INDEX FUNCTION PROCEDURE TRIGGER EVENT SEQUENCE TYPE DOMAIN ROLE USER GROUP CATALOG MACRO SECRET EXTENSION SERVER RULE POLICY DICTIONARY QUOTA PROFILE LANGUAGE COLLATION CAST OPERATOR AGGREGATE STATISTICS TABLESPACE PUBLICATION SUBSCRIPTION STAGE WAREHOUSE PIPE STREAM TASK RESOURCE PREPARE OWNED SYSTEM SESSION INSTANCE".split(
    " ",
  ),
);

const qualifiers: ReadonlySet<string> = new Set([
  "MATERIALIZED",
  "FOREIGN",
  "EXTERNAL",
  "ROW",
  "EVENT",
  "DEFAULT",
  "NAMED",
]);

const objectVerbs: ReadonlySet<string> = new Set([
  "CREATE",
  "ALTER",
  "DROP",
  "TRUNCATE",
  "REFRESH",
  "RENAME",
  "UNDROP",
]);

/** The name of a statement of this kind whose words, in upper case and outside brackets, are these. */
export function tagOf(kind: StatementKind, words: readonly string[]): string {
  const [first = "", second = "", third = ""] = words;
  const two = `${first} ${second}`;
  switch (kind) {
    case "ddl":
      return objectVerbs.has(first) ? objectTag(first, words) : first;
    case "begin":
      return first === "START" ? "START TRANSACTION" : "BEGIN";
    case "commit":
      return first === "PREPARE" ? "PREPARE TRANSACTION" : "COMMIT";
    case "rollback":
      return "ROLLBACK";
    case "savepoint":
      return first === "ROLLBACK" ? "ROLLBACK TO SAVEPOINT" : first;
    case "execute":
      return second === "IMMEDIATE" || second === "AS" ? two : first;
    case "deallocate":
      return objectVerbs.has(first) ? two : first;
    case "set":
      return setTag(second, third);
    case "use":
      return useTag(words);
    case "discard":
      return second === "" ? first : two;
    case "declare":
      return words.includes("CURSOR") ? "DECLARE CURSOR" : first;
    case "close":
      return "CLOSE CURSOR";
    case "copy":
      return copyTag(first, words);
    case "unknown":
      return first === "COMMIT" || first === "ROLLBACK" ? two : first;
    default:
      return first;
  }
}

function objectTag(verb: string, words: readonly string[]): string {
  if (verb === "TRUNCATE") return "TRUNCATE TABLE";
  let qualifier = "";
  for (const word of words.slice(1)) {
    if (qualifiers.has(word) && qualifier === "") {
      qualifier = `${word} `;
    } else if (objects.has(word)) {
      return `${verb} ${qualifier}${word}`;
    } else if (!modifiers.has(word) && !words.includes("DEFINER")) {
      // A name: what stands further on is not the object of this verb.
      break;
    }
  }
  return verb;
}

function setTag(second: string, third: string): string {
  if (second === "TIME" && third === "ZONE") return "SET TIME ZONE";
  if (second === "SESSION" && third === "AUTHORIZATION") return "SET SESSION AUTHORIZATION";
  const named = ["SESSION", "ROLE", "PATH", "TRANSACTION", "CONSTRAINTS", "PASSWORD", "NAMES"];
  return named.includes(second) ? `SET ${second}` : "SET";
}

/** Snowflake's `USE ROLE x` changes whose rights apply; `USE x` does not. */
function useTag(words: readonly string[]): string {
  const [, second = "", third] = words;
  const named = ["ROLE", "SECONDARY", "WAREHOUSE", "DATABASE", "SCHEMA", "CATALOG"];
  return third !== undefined && named.includes(second) ? `USE ${second}` : "USE";
}

/** `COPY TO` writes files, `COPY FROM` tables. The first of the two words outside brackets decides. */
function copyTag(first: string, words: readonly string[]): string {
  if (first === "EXPORT" || first === "IMPORT")
    return words[1] === undefined ? first : `${first} ${words[1]}`;
  if (first === "LOAD") return `LOAD ${words[1] ?? ""}`.trimEnd();
  if (first !== "COPY") return first;
  if (words[1] === "FROM" && words[2] === "DATABASE") return "COPY FROM DATABASE";
  const direction = words.find((word) => word === "TO" || word === "FROM");
  return direction === undefined ? first : `COPY ${direction}`;
}
