/**
 * YAML as the config has it: one document of maps with text keys.
 *
 * Whatever the format allows beyond that and could be read in two ways (a key written twice, an
 * unknown tag) is a problem with its line and column.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import { LineCounter, isScalar, parseDocument, visit, type Document } from "yaml";
import type { ConfigProblem } from "./report.ts";

/** How often aliases may be resolved, so that a small file can not grow into a large document. */
const aliasesMax = 100;
/** Everything that walks a config may go into it by recursion. */
const depthMax = 200;

/** The plain data of a file; an empty file is an empty map. */
export function parseYaml(bytes: Uint8Array): Result<unknown, readonly ConfigProblem[]> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return refuse("the file is not UTF-8 text");
  }
  try {
    return parseText(text);
  } catch (error) {
    // The parser itself goes into depth by recursion and has no limit of its own.
    if (error instanceof RangeError) return refuse(tooDeep);
    throw error;
  }
}

const tooDeep = `the file is nested more than ${depthMax} levels deep`;

function parseText(text: string): Result<unknown, readonly ConfigProblem[]> {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    stringKeys: true,
    prettyErrors: false,
    // Only "silent" would hide a second document.
    logLevel: "error",
  });
  // A warning says that something was read in another way than it was written.
  const syntax = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    offset: pos[0],
    reason: firstLine(message),
  }));
  const faults = syntax.length > 0 ? syntax : contentFaults(document);
  if (faults.length > 0) {
    return err(
      faults.map(({ offset, reason }) => {
        const { line, col } = lines.linePos(offset);
        return { path: "", reason: `line ${line}, column ${col}: ${reason}` };
      }),
    );
  }
  try {
    return ok((document.toJS({ maxAliasCount: aliasesMax }) as unknown) ?? {});
  } catch (error) {
    // Aliases that lead nowhere were found above; what remains is their number.
    if (error instanceof ReferenceError) {
      return refuse(`the file uses more than ${aliasesMax} YAML aliases`);
    }
    throw error;
  }
}

interface Fault {
  readonly offset: number;
  readonly reason: string;
}

function contentFaults(document: Document.Parsed): readonly Fault[] {
  const faults: Fault[] = [];
  visit(document, {
    Alias: (_key, alias) => {
      if (alias.resolve(document) !== undefined) return;
      const reason = `there is no anchor &${alias.source} before this alias`;
      faults.push({ offset: alias.range?.[0] ?? 0, reason });
    },
    Pair: (_key, { key }) => {
      // No name that a record can hold: it would be dropped without a word.
      if (!isScalar(key) || key.value !== "__proto__") return;
      faults.push({ offset: key.range?.[0] ?? 0, reason: "the key __proto__ is not allowed" });
    },
    Collection: (_key, collection, above) => {
      if (above.length <= depthMax) return undefined;
      faults.push({ offset: collection.range?.[0] ?? 0, reason: tooDeep });
      return visit.SKIP;
    },
  });
  return faults;
}

function refuse(reason: string): Result<never, readonly ConfigProblem[]> {
  return err([{ path: "", reason }]);
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
