/**
 * Paths of a statement's answers: `/v1/statement/executing/{instance}/{sealed}`. Clients follow a link as it
 * is, so its content is up to its maker. No access is decided here.
 */

export interface StatementPath {
  /** Where the query was when the link was made; `partialCancel` ends it with the rows so far. */
  readonly phase: "queued" | "executing" | "partialCancel";
  /** Whose link it is. */
  readonly instance: string;
  /** The part that only its owner can read. */
  readonly sealed: string;
}

export const statementPath = "/v1/statement";
const prefix = "/v1/statement/";
const instanceLengthMax = 200;
const sealedLengthMax = 512;

/** Reads a path without its query string; undefined for any other. Cost: linear in the path, no backtracking. */
export function parseStatementPath(path: string): StatementPath | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const parts = path.slice(prefix.length).split("/", 4);
  const [phase, instance, sealed] = parts;
  if (parts.length !== 3 || instance === undefined || sealed === undefined) return undefined;
  if (phase !== "queued" && phase !== "executing" && phase !== "partialCancel") return undefined;
  if (instance.length > instanceLengthMax || sealed.length > sealedLengthMax) return undefined;
  return isWord(instance) && isWord(sealed) ? { phase, instance, sealed } : undefined;
}

/** The inverse of `parseStatementPath`. */
export function statementPathOf({ phase, instance, sealed }: StatementPath): string {
  return `${prefix}${phase}/${instance}/${sealed}`;
}

function isWord(text: string): boolean {
  return /^[\w-]+$/.test(text);
}
