/**
 * Names of the headers of Trino's client protocol, and the form their values are written in.
 *
 * Names only: what a header means for a session is said in the frontend.
 * Source: Trino's documentation, "Client REST API", and the headers its own clients send.
 */

/** Request headers, lower-case, as HTTP parsers hand them over. */
export const requestHeader = {
  user: "x-trino-user",
  originalUser: "x-trino-original-user",
  source: "x-trino-source",
  catalog: "x-trino-catalog",
  schema: "x-trino-schema",
  path: "x-trino-path",
  timeZone: "x-trino-time-zone",
  language: "x-trino-language",
  traceToken: "x-trino-trace-token",
  session: "x-trino-session",
  role: "x-trino-role",
  preparedStatement: "x-trino-prepared-statement",
  transactionId: "x-trino-transaction-id",
  clientInfo: "x-trino-client-info",
  clientTags: "x-trino-client-tags",
  clientCapabilities: "x-trino-client-capabilities",
  resourceEstimate: "x-trino-resource-estimate",
  extraCredential: "x-trino-extra-credential",
  queryDataEncoding: "x-trino-query-data-encoding",
} as const;

/** Response headers that change what the client sends with its next statement. */
export const responseHeader = {
  setCatalog: "X-Trino-Set-Catalog",
  setSchema: "X-Trino-Set-Schema",
  setPath: "X-Trino-Set-Path",
  setSession: "X-Trino-Set-Session",
  clearSession: "X-Trino-Clear-Session",
  setRole: "X-Trino-Set-Role",
  addedPrepare: "X-Trino-Added-Prepare",
  deallocatedPrepare: "X-Trino-Deallocated-Prepare",
  startedTransactionId: "X-Trino-Started-Transaction-Id",
  clearTransactionId: "X-Trino-Clear-Transaction-Id",
  resetAuthorizationUser: "X-Trino-Reset-Authorization-User",
} as const;

/** Under the `u` flag only those without a partner match. */
const loneSurrogates = /\p{Surrogate}/gu;
/** Most names and values consist of characters that need no encoding. */
const unreserved = /^[\w.*-]*$/;

/** Encodes as Java's `URLEncoder` does, which is how every Trino client reads values: a space is `+`. */
export function formEncode(text: string): string {
  if (unreserved.test(text)) return text;
  return encodeURIComponent(text.replaceAll(loneSurrogates, "\ufffd"))
    .replaceAll("%20", "+")
    .replaceAll(/[!'()~]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** The inverse of `formEncode`; undefined when an escape is broken or the bytes are not UTF-8. */
export function formDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

/** Items of a header that holds a list: separated by commas, trimmed, empty ones left out. */
export function listItems(value: string): readonly string[] {
  return value
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** `a=1,b=x+y` as pairs in order, names and values decoded; undefined when an item is no pair or does not decode. */
export function propertyPairs(value: string): readonly (readonly [string, string])[] | undefined {
  const pairs: (readonly [string, string])[] = [];
  for (const item of listItems(value)) {
    const mark = item.indexOf("=");
    if (mark <= 0) return undefined;
    const name = formDecode(item.slice(0, mark).trimEnd());
    const decoded = formDecode(item.slice(mark + 1).trimStart());
    if (name === undefined || decoded === undefined) return undefined;
    pairs.push([name, decoded]);
  }
  return pairs;
}
