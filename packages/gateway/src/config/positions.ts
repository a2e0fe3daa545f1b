/** Where in the text of a config file its keys stand, for problems that name a key. */
import { LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument, type Node } from "yaml";

/** Both count from one, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * Finds positions in a text that `parseYaml` takes. Where a key of the path is missing, it answers
 * the position of the last key that is there; undefined where none is.
 */
export function positionsIn(text: string): (path: string) => Position | undefined {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, stringKeys: true, logLevel: "error" });
  return (path) => {
    let found: Node | undefined;
    let at: Node | null = document.contents;
    for (const part of partsOf(path)) {
      const held: Held | undefined = heldBy(isAlias(at) ? at.resolve(document) : at, part);
      if (held === undefined) break;
      found = held.shown;
      at = held.value;
    }
    const offset = found?.range?.[0];
    if (offset === undefined) return undefined;
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
}

/** `shown`: what an operator looks for, the key rather than its value. */
interface Held {
  readonly shown: Node | undefined;
  readonly value: Node | null;
}

function heldBy(node: Node | null | undefined, part: string | number): Held | undefined {
  if (isSeq<Node>(node) && typeof part === "number") {
    const item = node.items[part];
    return item === undefined ? undefined : { shown: item, value: item };
  }
  if (!isMap<Node, Node | null>(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
  return pair === undefined ? undefined : { shown: pair.key, value: pair.value };
}

/** The parts of a path as `textOf` (report.ts of the control plane) writes it. */
function partsOf(path: string): readonly (string | number)[] {
  const parts = path.matchAll(/\[(\d+)\]|("(?:[^"\\]|\\.)*")|([\w-]+)/g);
  return [...parts].map(([, index, quoted, plain]) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? (plain ?? "") : (JSON.parse(quoted) as string);
  });
}
