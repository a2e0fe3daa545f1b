/**
 * Statements about the session, which are answered here: USE, ALTER SESSION, and transfers of files, which are refused.
 * Everything else is the engine's.
 */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { withParameter, type SessionState } from "../session/state.ts";

const name = String.raw`(?:"(?:[^"]|"")+"|[A-Za-z_][\w$]*)`;
const useForm = new RegExp(
  String.raw`^use\s+(?:(database|schema|warehouse|role|secondary)\s+)?(${name})(?:\.(${name}))?$`,
  "i",
);
const setForm = /^alter\s+session\s+set\s+([\s\S]+)$/i;
const unsetForm = /^alter\s+session\s+unset\s+([\s\S]+)$/i;
const assignment = /^\s*([A-Za-z_]\w*)\s*=\s*(?:'((?:[^'\\]|''|\\.)*)'|([\w.+-]+))\s*,?/;
const endForm = /^(?:commit|rollback)(?:\s+work)?$/i;
const scanForm =
  /^\s*select\s+\*\s+from\s+table\s*\(\s*result_scan\s*\(\s*'([\w-]{1,128})'\s*\)\s*\)\s*;?\s*$/i;
const transferForm = /^(?:put|get)\s+(?:'?file:|@)/i;

/** The state that the statement leaves; undefined for a statement that is not about the session. */
export function readLocal(
  sql: string,
  state: SessionState,
): Result<SessionState, GatewayError> | undefined {
  const text = sql.trim().replace(/;\s*$/, "").trimEnd();
  if (text.length > textMax) return undefined;
  if (transferForm.test(text)) {
    return err(unsupported("Files are neither taken nor given here (PUT, GET)."));
  }
  // Drivers of a session without autocommit end a transaction whether one began or not.
  if (state.pin === undefined && endForm.test(text)) return ok(state);
  const use = useForm.exec(text);
  if (use !== null) return used(use, state);
  const set = setForm.exec(text);
  if (set !== null) return assigned(set[1] ?? "", state);
  const unset = unsetForm.exec(text);
  if (unset === null) return undefined;
  return all(
    (unset[1] ?? "").split(",").map((one) => [one.trim(), undefined]),
    state,
  );
}

/** The id of an earlier statement whose whole result is asked for again; drivers get that of an asynchronous one so. */
export function scannedResult(sql: string): string | undefined {
  return sql.length > textMax ? undefined : scanForm.exec(sql)?.[1];
}

/** Longer than any statement about a session. */
const textMax = 4_096;

function used(
  [, kind = "", first = "", second]: RegExpExecArray,
  state: SessionState,
): Result<SessionState, GatewayError> {
  const one = nameOf(first);
  const two = second === undefined ? undefined : nameOf(second);
  switch (kind.toLowerCase()) {
    case "warehouse":
      return ok({ ...state, warehouse: one });
    case "role":
    case "secondary":
      return err(
        unsupported("Roles are the engine's here: the session keeps the rights of its login."),
      );
    case "schema":
      return ok(
        two === undefined ? { ...state, schema: one } : { ...state, database: one, schema: two },
      );
    default:
      return ok({ ...state, database: one, schema: two });
  }
}

function assigned(text: string, state: SessionState): Result<SessionState, GatewayError> {
  const pairs: [string, string][] = [];
  for (let rest = text; rest.trim() !== "";) {
    const found = assignment.exec(rest);
    if (found === null)
      return err(gatewayError("query.syntax", { message: "ALTER SESSION SET is not understood." }));
    const [whole, key = "", quoted, bare = ""] = found;
    pairs.push([
      key,
      quoted === undefined ? bare : quoted.replaceAll("''", "'").replaceAll(/\\(.)/g, "$1"),
    ]);
    rest = rest.slice(whole.length);
  }
  return all(pairs, state);
}

function all(
  pairs: readonly (readonly [string, string | undefined])[],
  state: SessionState,
): Result<SessionState, GatewayError> {
  let found: Result<SessionState, GatewayError> = ok(state);
  for (const [key, value] of pairs) {
    if (!found.ok) return found;
    found = withParameter(found.value, key, value);
  }
  return found;
}

/** A quoted name without its quotes. Letters stay as they were written: engines differ in how they fold them. */
function nameOf(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
}

function unsupported(message: string): GatewayError {
  return gatewayError("query.unsupported", { message });
}
