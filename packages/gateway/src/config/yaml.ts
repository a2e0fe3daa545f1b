/**
 * YAML as the config has it: one document of maps with text keys.
 *
 * Whatever the format allows beyond that and could be read in two ways (a key written twice, an
 * unknown tag) is a problem with its line and column.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import { LineCounter, parseDocument, visit, isScalar, type Document } from "yaml";
import type { ConfigProblem } from "./report.ts";

/** How often aliases may be resolved, so that a small file can not grow into a large document. */
const aliasesMax = 100;

/** The plain data of a file; an empty file is an empty map. */
export function parseYaml(bytes: Uint8Array): Result<unknown, readonly ConfigProblem[]> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return err([{ path: "", reason: "the file is not UTF-8 text" }]);
  }

  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    stringKeys: true,
    prettyErrors: false,
    logLevel: "silent",
  });
  // A warning says that something was read in another way than it was written.
  const faults = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    offset: pos[0],
    reason: firstLine(message),
  }));
  faults.push(...prototypeKeys(document));
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
  } catch {
    return err([{ path: "", reason: `the file uses more than ${aliasesMax} YAML aliases` }]);
  }
}

/** `__proto__` is no name that a record can hold; it would be dropped without a word. */
function prototypeKeys(document: Document.Parsed): { offset: number; reason: string }[] {
  const found: { offset: number; reason: string }[] = [];
  visit(document, {
    Pair: (_key, { key }) => {
      if (isScalar(key) && key.value === "__proto__") {
        found.push({ offset: key.range?.[0] ?? 0, reason: "the key __proto__ is not allowed" });
      }
    },
  });
  return found;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
