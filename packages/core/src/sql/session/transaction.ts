/** Reads the statements that begin, end and divide transactions. Used by `session.ts` only. */
import {
  noModes,
  type Isolation,
  type SessionStatement,
  type TransactionModes,
} from "./statement.ts";
import {
  atEnd,
  looksAtWord,
  takeFoldedName,
  takeOneOf,
  takeSymbol,
  takeWords,
  type TokenReader,
} from "./tokenReader.ts";

/** After `BEGIN` or `START`. */
export function readBegin(reader: TokenReader, firstWord: string): SessionStatement | undefined {
  if (firstWord === "START") {
    if (!takeWords(reader, "TRANSACTION")) return undefined;
  } else {
    takeOneOf(reader, ["WORK", "TRANSACTION"]);
  }
  const modes = readModes(reader);
  return modes === undefined ? undefined : { kind: "begin", modes };
}

/** After `COMMIT`, `END`, `ROLLBACK` or `ABORT`. */
export function readEnd(
  reader: TokenReader,
  kind: "commit" | "rollback",
): SessionStatement | undefined {
  takeOneOf(reader, ["WORK", "TRANSACTION"]);
  if (kind === "rollback" && takeWords(reader, "TO")) {
    takeWords(reader, "SAVEPOINT");
    const name = takeFoldedName(reader);
    return name === undefined || !atEnd(reader) ? undefined : { kind: "rollbackToSavepoint", name };
  }
  let chain = false;
  if (takeWords(reader, "AND")) {
    chain = !takeWords(reader, "NO");
    if (!takeWords(reader, "CHAIN")) return undefined;
  }
  const keeps = takeWords(reader, "NO");
  const release = takeWords(reader, "RELEASE");
  if ((keeps && !release) || !atEnd(reader)) return undefined;
  return { kind, chain, release: release && !keeps };
}

/** After `SAVEPOINT` or `RELEASE`. */
export function readSavepoint(
  reader: TokenReader,
  firstWord: string,
): SessionStatement | undefined {
  const releases = firstWord === "RELEASE";
  if (releases) takeWords(reader, "SAVEPOINT");
  const name = takeFoldedName(reader);
  if (name === undefined || !atEnd(reader)) return undefined;
  return { kind: releases ? "releaseSavepoint" : "savepoint", name };
}

const isolations: readonly (readonly [readonly string[], Isolation])[] = [
  [["READ", "UNCOMMITTED"], "readUncommitted"],
  [["READ", "COMMITTED"], "readCommitted"],
  [["REPEATABLE", "READ"], "repeatableRead"],
  [["SERIALIZABLE"], "serializable"],
];

/**
 * Modes up to the end of the statement, with or without commas between; undefined on anything else. `once`: also where
 * one is given twice.
 */
export function readModes(reader: TokenReader, once = false): TransactionModes | undefined {
  let modes = noModes;
  while (!atEnd(reader)) {
    const next = readMode(reader, modes);
    if (next === undefined || (once && givenIn(next) === givenIn(modes))) return undefined;
    modes = next;
    if (takeSymbol(reader, ",") && atEnd(reader)) return undefined;
  }
  return modes;
}

function givenIn({ isolation, readOnly, deferrable }: TransactionModes): number {
  return [isolation, readOnly, deferrable].filter((mode) => mode !== undefined).length;
}

function readMode(reader: TokenReader, modes: TransactionModes): TransactionModes | undefined {
  if (takeWords(reader, "ISOLATION", "LEVEL")) {
    const found = isolations.find(([words]) => takeWords(reader, ...words));
    return found === undefined ? undefined : { ...modes, isolation: found[1] };
  }
  if (looksAtWord(reader, ["ONLY", "WRITE"], 1) && takeWords(reader, "READ")) {
    return { ...modes, readOnly: takeOneOf(reader, ["ONLY", "WRITE"]) === "ONLY" };
  }
  if (takeWords(reader, "NOT", "DEFERRABLE")) return { ...modes, deferrable: false };
  if (takeWords(reader, "DEFERRABLE")) return { ...modes, deferrable: true };
  if (takeWords(reader, "WITH", "CONSISTENT", "SNAPSHOT"))
    return { ...modes, consistentSnapshot: true };
  return undefined;
}
