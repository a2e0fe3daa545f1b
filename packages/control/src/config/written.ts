/**
 * The canonical text of a document, made once for as long as the document lives.
 *
 * A document is never changed, so the object itself is the key. Nothing else belongs here: what is
 * derived under the rules of a schema is in parsed.ts.
 */
import { canonicalJson, type Json } from "@gateway/contract/canonical.ts";

const texts = new WeakMap<object, string>();

/** Canonical JSON. `document` stays as it is from here on. */
export function canonicalOf(document: Json): string {
  if (typeof document !== "object" || document === null) return canonicalJson(document);
  const known = texts.get(document);
  if (known !== undefined) return known;
  const text = canonicalJson(document);
  texts.set(document, text);
  return text;
}
