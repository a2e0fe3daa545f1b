/**
 * YAML as the config has it: one document of maps with text keys.
 *
 * YAML that could be read in two ways (a key written twice, an unknown tag) is a problem with its
 * line and column.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import { LineCounter, Parser, isScalar, parseDocument, visit, type CST, type Document } from "yaml";
import type { ConfigProblem } from "@gateway/control/config/check/report.ts";
import type { Position } from "./positions.ts";

/** How often aliases may be resolved, so that a small file can not grow into a large document. */
const aliasesMax = 100;
/** A config has about ten levels; conditions of routers may hold more of their kind. */
const depthMax = 200;

/** `at`: where the text itself is wrong. */
export interface TextProblem extends ConfigProblem {
  readonly at?: Position;
}

/** The plain data of a file; an empty file is an empty map. */
export function parseYaml(bytes: Uint8Array): Result<unknown, readonly TextProblem[]> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return refuse("the file is not UTF-8 text");
  }
  // Everything that comes later goes into a document by recursion.
  if (isDeeper(new Parser().parse(text), tokensIn)) return refuse(tooDeep);
  return parseText(text);
}

const tooDeep = `the file is nested more than ${depthMax} levels deep`;

/** Whether the value nests deeper than `depthMax`. It walks with a list of its own, because recursion could run out of stack. */
function isDeeper<Thing>(
  roots: Iterable<Thing>,
  heldBy: (thing: Thing) => readonly Thing[],
): boolean {
  const open = [...roots].map((thing) => ({ thing, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const depth = next.depth + 1;
    if (depth > depthMax) return true;
    for (const thing of heldBy(next.thing)) open.push({ thing, depth });
  }
  return false;
}

function tokensIn(token: CST.Token): readonly CST.Token[] {
  const items = "items" in token ? token.items.flatMap(({ key, value }) => [key, value]) : [];
  const document = token.type === "document" ? [token.value] : [];
  return [...items, ...document].filter((child) => child !== null && child !== undefined);
}

function valuesIn(value: unknown): readonly unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value) : [];
}

function parseText(text: string): Result<unknown, readonly TextProblem[]> {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: true,
    stringKeys: true,
    prettyErrors: false,
    // At any level but "silent" the parser reports a second document.
    logLevel: "error",
  });
  // A warning says that something was read in another way than it was written.
  const syntax = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    offset: pos[0],
    reason: firstLine(message),
  }));
  const faults = syntax.length > 0 ? syntax : contentFaults(document);
  if (faults.length > 0) {
    // The parser reports some faults once for each thing that they break.
    const once = new Map(faults.map((fault) => [`${fault.offset} ${fault.reason}`, fault]));
    return err(
      [...once.values()].map(({ offset, reason }) => {
        const { line, col } = lines.linePos(offset);
        return { path: "", reason, at: { line, column: col } };
      }),
    );
  }
  try {
    const value = (document.toJS({ maxAliasCount: aliasesMax }) as unknown) ?? {};
    // Aliases nest too, and one inside of its own anchor never ends.
    return isDeeper([value], valuesIn) ? refuse(tooDeep) : ok(value);
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
      // A record can not hold this name: the key would vanish without a word.
      if (!isScalar(key) || key.value !== "__proto__") return;
      faults.push({ offset: key.range?.[0] ?? 0, reason: "the key __proto__ is not allowed" });
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
