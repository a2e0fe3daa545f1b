/**
 * Keys of the configuration whose part does not exist yet.
 *
 * They are named and refused rather than left out: a policy that is read and not enforced is worse
 * than none, and "unknown key" would send the reader looking for a misspelling.
 */
import { z } from "zod";

/**
 * A schema that refuses every value: "not built yet: …". `what` names the part for the reader ("the
 * Flight SQL frontend"). Used as `key: notBuilt("…").optional()`.
 */
export function notBuilt(what: string) {
  return z.never(message(what)).meta({
    title: "Not built yet",
    description: `Refused. Not built yet: ${what}.`,
    "x-not-built": true,
  });
}

/**
 * A variant of a discriminated union that is known and refused: the issue stands at the
 * discriminator, whatever other keys the object holds. The union's output does not have it.
 */
export function notBuiltVariant<Key extends string, Value extends string>(
  key: Key,
  value: Value,
  what: string,
) {
  const shape = { [key]: z.literal(value) } as Readonly<Record<Key, z.ZodLiteral<Value>>>;
  const refused = z
    .looseObject(shape)
    .refine(() => false, { error: message(what), path: [key] })
    .meta({ title: value, description: `Refused. Not built yet: ${what}.`, "x-not-built": true });
  // Only the type says `never`: a transform would remove the defaults of every surrounding object from the JSON Schema.
  return refused as unknown as Refused<Key, Value>;
}

type Refused<Key extends string, Value extends string> = z.ZodType<never, Record<Key, Value>> &
  z.core.$ZodTypeDiscriminable;

/** One of the words `built`. `later` holds words that are known and refused, each with the part it asks for. */
export function builtWords<const Built extends readonly [string, ...string[]]>(
  built: Built,
  later: Readonly<Record<string, string>>,
) {
  const parts = new Map(Object.entries(later));
  return z
    .enum(built, {
      error: ({ input }) => {
        const what = typeof input === "string" ? parts.get(input) : undefined;
        return what === undefined ? undefined : message(what);
      },
    })
    .meta({ "x-not-built-words": later });
}

function message(what: string): string {
  return `not built yet: ${what}`;
}
