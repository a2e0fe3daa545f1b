/** Secrets of one object of the configuration: sealed for the database, hidden for readers. */
import { canonicalJson, type Json } from "@gateway/contract/canonical.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import {
  fileOf,
  isList,
  isMap,
  mapOf,
  keyOf,
  pathOf,
  present,
  type ConfigObject,
} from "../file.ts";
import { valueAt, type Path } from "../keys.ts";
import { fileJsonSchema } from "../fileJsonSchema.ts";
import type { KeyRing, OpenRefusal, SealedCell } from "./keyRing.ts";
import { mapSecrets, type SecretVisit } from "./paths.ts";

/** What readers see in place of a secret, and what a writer sends to keep the stored one. */
export const secretIsSet = { set: true } as const;

/** The key that marks a sealed value; no object may use it for anything else. */
export const sealedMark = "$sealed";

/** True for `{set: true}` and nothing beside it. */
export function isSetMark(value: Json): boolean {
  return isMap(value) && value["set"] === true && Object.keys(value).length === 1;
}

/** The name in `{secretRef: "env:…"}`; undefined for any other value. */
export function referenceIn(value: Json): string | undefined {
  if (!isMap(value) || Object.keys(value).length !== 1) return undefined;
  const reference = value["secretRef"];
  return typeof reference === "string" ? reference : undefined;
}

/** The body with each secret replaced; paths lead from the root of the file. */
export function mapObjectSecrets(object: ConfigObject, visit: SecretVisit): Json {
  return bodyIn(object, mapSecrets(fileJsonSchema(), fileOf([object]), visit));
}

/** The body as readers see it: each secret is `{set: true}`, a reference stays one. */
export function hideSecrets(object: ConfigObject): Json {
  return mapObjectSecrets(object, (value) =>
    referenceIn(value) === undefined ? secretIsSet : value,
  );
}

/** The body for the database. `keyIds` names the keys it needs, each once, sorted. */
export function sealObject(
  keys: KeyRing,
  object: ConfigObject,
): { readonly body: Json; readonly keyIds: readonly string[] } {
  let sealed = false;
  const body = mapObjectSecrets(object, (value, path) => {
    if (referenceIn(value) !== undefined) return value;
    sealed = true;
    return { [sealedMark]: keys.sealText(canonicalJson(value), cellOf(object, path)) };
  });
  return { body, keyIds: sealed ? [keys.currentId] : [] };
}

/** The body in clear; refuses with the first value that does not open. */
export function openObject(keys: KeyRing, object: ConfigObject): Result<Json, OpenRefusal> {
  return mapSealed(object, (sealed, cell) => {
    const text = keys.openText(sealed, cell);
    return text.ok ? ok(JSON.parse(text.value) as Json) : text;
  });
}

/** The stored body with every sealed value sealed anew under the current key, even if this release's schema does not call it secret. */
export function resealObject(
  keys: KeyRing,
  object: ConfigObject,
): Result<{ readonly body: Json; readonly keyIds: readonly string[] }, OpenRefusal> {
  let sealed = false;
  const body = mapSealed(object, (old, cell) => {
    sealed = true;
    const text = keys.openText(old, cell);
    return text.ok ? ok({ [sealedMark]: keys.sealText(text.value, cell) }) : text;
  });
  return body.ok ? ok({ body: body.value, keyIds: sealed ? [keys.currentId] : [] }) : body;
}

type SealedVisit = (sealed: string, cell: SealedCell) => Result<Json, OpenRefusal>;

function mapSealed(object: ConfigObject, visit: SealedVisit): Result<Json, OpenRefusal> {
  let refusal: OpenRefusal | undefined;
  const map = (value: Json, path: Path): Json => {
    if (isList(value)) return value.map((item, index) => map(item, [...path, index]));
    if (!isMap(value)) return value;
    const sealed = value[sealedMark];
    if (typeof sealed === "string") {
      const visited = visit(sealed, cellOf(object, path));
      if (visited.ok) return visited.value;
      refusal ??= visited.error;
      return null;
    }
    return mapOf(present(value).map(([key, child]) => [key, map(child, [...path, key])]));
  };
  const body = bodyIn(object, map(fileOf([object]), []));
  return refusal === undefined ? ok(body) : err(refusal);
}

/** Takes the object's body out of the file that `fileOf` made of it. */
function bodyIn(object: ConfigObject, file: Json): Json {
  return (valueAt(file, pathOf(object)) ?? {}) as Json;
}

function cellOf(object: ConfigObject, path: Path): SealedCell {
  return { table: "config_documents", row: keyOf(object), field: JSON.stringify(path) };
}
