/** What node-postgres and the drivers made from it throw, as a code. Their messages hold parameters and stay here. */
import type { DatabaseError } from "../database.ts";

/** A connection that is of no more use to anybody. */
export function ruins({ kind, code }: DatabaseError): boolean {
  return kind === "unreachable" || code.startsWith("57P");
}

/** The code of a caught error; `noAnswer` when it has none, as with a time limit of the driver. */
export function databaseErrorOf(error: unknown): DatabaseError {
  const code = codeIn(error);
  if (code === undefined) return { kind: "unreachable", code: "noAnswer" };
  // Class 08 is about the connection, also when a proxy is the one to say so.
  const answered = /^[0-9A-Z]{5}$/.test(code) && !code.startsWith("08");
  if (!answered) return { kind: "unreachable", code };
  const constraint = textAt(error, "constraint");
  return { kind: "refused", code, ...(constraint === undefined ? {} : { constraint }) };
}

/** `fetch` and Neon's driver wrap what happened, and the code is inside. */
function codeIn(error: unknown): string | undefined {
  let inner = error;
  for (let depth = 0; depth < wrappersMax; depth += 1) {
    const code = textAt(inner, "code");
    if (code !== undefined || typeof inner !== "object" || inner === null) return code;
    inner = Reflect.get(inner, "sourceError") ?? Reflect.get(inner, "cause");
  }
  return undefined;
}

const wrappersMax = 4;

function textAt(error: unknown, key: "code" | "constraint"): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const value: unknown = Reflect.get(error, key);
  return typeof value === "string" && value !== "" ? value : undefined;
}
