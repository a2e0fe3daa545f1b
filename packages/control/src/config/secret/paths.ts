/**
 * Which values of a document are secret: those whose schema is marked `x-secret`, also behind unions.
 *
 * A value that no built part of the schema describes counts as secret as well: an older release that
 * reads a newer one's document must not show its passwords.
 */
import type { Json } from "@gateway/contract/canonical.ts";
import { isList, isMap, mapOf, present } from "../file.ts";
import { alternatives, childOf, resolved, type JsonSchema, type Path } from "../keys.ts";

/** Answers what stands in place of a secret. `described` is false where no schema describes the value. */
export type SecretVisit = (value: Json, path: Path, described: boolean) => Json;

/** `value` with each secret replaced by what `visit` answers; `schema` describes `value`. */
export function mapSecrets(schema: JsonSchema, value: Json, visit: SecretVisit): Json {
  return mapped({ root: schema, visit }, [schema], value, []);
}

/**
 * The values under any of `keys`, with their paths, where the schema itself names the key. A user who
 * happens to have such a name is not meant.
 */
export function valuesUnder(
  schema: JsonSchema,
  value: Json,
  keys: ReadonlySet<string>,
): readonly { readonly path: Path; readonly value: Json }[] {
  const found: { readonly path: Path; readonly value: Json }[] = [];
  const look = (places: readonly JsonSchema[], at: Json, path: Path): void => {
    const members = builtMembers(schema, places, at);
    for (const [part, child] of childrenOf(at)) {
      const inner = [...path, part];
      const named = members.some((member) => Object.hasOwn(member.properties ?? {}, part));
      if (named && typeof part === "string" && keys.has(part)) {
        found.push({ path: inner, value: child });
      } else {
        look(
          members.flatMap((member) => childOf(member, part)),
          child,
          inner,
        );
      }
    }
  };
  look([schema], value, []);
  return found;
}

interface Walk {
  readonly root: JsonSchema;
  readonly visit: SecretVisit;
}

function mapped(walk: Walk, places: readonly JsonSchema[], value: Json, path: Path): Json {
  const { root, visit } = walk;
  const secret = places.some((place) => isMarked(root, place));
  const members = builtMembers(root, places, value);
  if (members.length === 0) return visit(value, path, secret);
  if (isList(value)) {
    const items = members.filter(({ items: schema }) => schema !== undefined);
    if (secret && items.length === 0) return visit(value, path, true);
    // A list of secrets is not one secret: each may be kept or be a reference.
    return value.map((item, index) =>
      secret
        ? visit(item, [...path, index], true)
        : mapped(
            walk,
            members.flatMap((member) => childOf(member, index)),
            item,
            [...path, index],
          ),
    );
  }
  if (secret) return visit(value, path, true);
  if (!isMap(value)) return value;
  return mapOf(
    present(value).map(([key, child]) => {
      const inner = members.flatMap((member) => childOf(member, key));
      return [key, mapped(walk, inner, child, [...path, key])];
    }),
  );
}

/** Members that fit the value; a part that is not built describes nothing. */
function builtMembers(
  root: JsonSchema,
  places: readonly JsonSchema[],
  value: Json,
): readonly JsonSchema[] {
  return alternatives(root, places, value).filter((member) => !("x-not-built" in member));
}

function isMarked(root: JsonSchema, place: JsonSchema): boolean {
  const schema = resolved(root, place);
  if (schema["x-secret"] === true) return true;
  const branches = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  // Members of a union of text and reference; an object with secrets inside is no secret itself.
  return branches.some((branch) => isMarked(root, branch));
}

function childrenOf(value: Json): readonly (readonly [string | number, Json])[] {
  if (isList(value)) return value.map((item, index) => [index, item] as const);
  return isMap(value) ? present(value) : [];
}
