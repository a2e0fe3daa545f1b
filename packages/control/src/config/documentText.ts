/**
 * The canonical text of a document, made once for as long as the document lives.
 *
 * A document is never changed, so the object itself is the key. Nothing else belongs here: what is
 * derived under the rules of a schema is in parsed.ts.
 */
import { canonicalJson, type Json } from "@gateway/contract/canonical.ts";
import type { JsonMap } from "./file.ts";

const texts = new WeakMap<object, string>();
const members = new WeakMap<object, { readonly name: string; readonly text: string }>();

/** Canonical JSON. `document` stays as it is from here on. */
export function canonicalOf(document: Json): string {
  if (typeof document !== "object" || document === null) return canonicalJson(document);
  const known = texts.get(document);
  if (known !== undefined) return known;
  const text = canonicalJson(document);
  texts.set(document, text);
  return text;
}

/** `"name":{…}`, as it stands in a map of documents. A document has one name; under another it is written anew. */
export function memberOf(name: string, document: JsonMap): string {
  const known = members.get(document);
  if (known?.name === name) return known.text;
  const text = `${canonicalJson(name)}:${canonicalOf(document)}`;
  members.set(document, { name, text });
  return text;
}
