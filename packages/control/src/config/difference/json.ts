/** From what came in (parsed JSON, parsed YAML) to a JSON value of ours, or to what is wrong with it. */
import type { Json } from "@gateway/contract/canonical.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { sealedMark } from "../secret/object.ts";
import type { ConfigFault } from "../configuration.ts";
import type { Path } from "../keys.ts";
import { textOf } from "../check/report.ts";

/** Deeper than any configuration; a recursion beyond it would take the stack. */
const depthMax = 100;

/** Names with a meaning of their own: to the seal, and to the language. */
const reservedKeys: ReadonlySet<string> = new Set([sealedMark, "__proto__"]);

/** A copy that JSON can hold. `base` is where the value stands in the file. */
export function jsonOf(input: unknown, base: Path): Result<Json, readonly ConfigFault[]> {
  const faults: ConfigFault[] = [];
  const refuse = (path: Path, reason: string): Json => {
    faults.push({ path: textOf(path), reason });
    return null;
  };

  const copy = (value: unknown, path: Path): Json => {
    if (path.length - base.length > depthMax) return refuse(path, "is nested too deeply");
    if (value === null || typeof value === "boolean") return value;
    if (typeof value === "string") {
      return isText(value) ? value : refuse(path, notText);
    }
    if (typeof value === "number") {
      return Number.isFinite(value) ? value : refuse(path, "must be a number that JSON can hold");
    }
    if (Array.isArray(value)) return value.map((item, index) => copy(item, [...path, index]));
    if (typeof value === "object" && isPlain(value)) return copyMap(value, path);
    return refuse(path, "must be text, a number, true, false, null, a list or a map of keys");
  };

  const copyMap = (value: object, path: Path): Json => {
    const entries = Object.entries(value).flatMap(([key, child]): [string, Json][] => {
      if (child === undefined) return [];
      if (reservedKeys.has(key)) refuse([...path, key], "is a reserved name");
      else if (!isText(key)) refuse(path, `has a key that ${notText}`);
      else return [[key, copy(child, [...path, key])]];
      return [];
    });
    return Object.fromEntries(entries);
  };

  const json = copy(input, base);
  return faults.length > 0 ? err(faults) : ok(json);
}

const notText = "is not Unicode text, or holds a NUL character";

/** UTF-8 has no half characters, and PostgreSQL no NUL. */
function isText(value: string): boolean {
  return value.isWellFormed() && !value.includes("\0");
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
