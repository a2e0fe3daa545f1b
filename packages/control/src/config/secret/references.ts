/**
 * Which secret references an object may hold that enters the database.
 *
 * A reference is resolved in the process that opens a cluster, so whoever may edit clusters could
 * otherwise have any secret of that process sent to an address of theirs. The rule is the same for
 * every way in (put, import, seed); whoever can write the config file is trusted with more, so a seed
 * may be given a wider list. A reference that stands in the database already may stay while the
 * object's address does (keep.ts), which lets an editor change the rest of a seeded object.
 */

/** The default of `gateway.secrets.allow`. */
export const secretRefsAllowedDefault: readonly string[] = [
  "env:GATEWAY_SECRET_*",
  "file:/run/secrets/gateway/*",
];

/** True when one of `patterns` covers the reference. `*` stands for any text without `/`. */
export function referenceAllowed(reference: string, patterns: readonly string[]): boolean {
  // `..` would lead out of the folder that a pattern names.
  const steps = reference.replace(/^[a-z]+:/, "").split("/");
  if (steps.some((step) => step === ".." || step === ".") || reference.includes("\0")) return false;
  return patterns.some((pattern) => matches(reference, pattern));
}

/** By hand, because a pattern made into a regular expression can take time without end. */
function matches(text: string, pattern: string): boolean {
  const [start = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return text === pattern;
  const end = rest.at(-1) ?? "";
  if (!text.startsWith(start) || text.length < start.length + end.length) return false;
  if (!text.endsWith(end)) return false;

  let at = start.length;
  for (const part of rest.slice(0, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0 || text.slice(at, found).includes("/")) return false;
    at = found + part.length;
  }
  return at <= text.length - end.length && !text.slice(at, text.length - end.length).includes("/");
}
