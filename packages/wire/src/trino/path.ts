/** Paths of a statement's answers: `/v1/statement/executing/{id}/{slug}/{token}`. No access is decided here. */

export interface StatementPath {
  readonly phase: "queued" | "executing";
  readonly id: string;
  /** What only the client that was given the link knows. */
  readonly slug: string;
  /** Number of the answer asked for. */
  readonly token: number;
}

export const statementPath = "/v1/statement";
const prefix = "/v1/statement/";
const idLengthMax = 128;
const tokenDigitsMax = 15;

/** Reads a path without its query string; undefined for any other. Cost: linear in the path, no backtracking. */
export function parseStatementPath(path: string): StatementPath | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const parts = path.slice(prefix.length).split("/", 5);
  const [phase, id, slug, digits] = parts;
  if (parts.length !== 4 || id === undefined || slug === undefined || digits === undefined) {
    return undefined;
  }
  if (phase !== "queued" && phase !== "executing") return undefined;
  if (!isWord(id) || !isWord(slug)) return undefined;
  if (digits.length > tokenDigitsMax || !/^\d+$/.test(digits)) return undefined;
  return { phase, id, slug, token: Number(digits) };
}

/** The inverse of `parseStatementPath`. */
export function statementPathOf(path: StatementPath): string {
  return `${prefix}${path.phase}/${path.id}/${path.slug}/${path.token}`;
}

function isWord(text: string): boolean {
  return text.length <= idLengthMax && /^\w+$/.test(text);
}
