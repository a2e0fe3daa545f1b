/** In which form a driver wants its rows: each has a parameter of its own for it, and a usual form. */
import type { LiveSession } from "./sessions.ts";
import { parametersOf } from "./state.ts";

/** By the name that a driver logs in with. Others get JSON; that of JavaScript reads nothing else. */
const parameterNames: Readonly<Record<string, string>> = {
  PythonConnector: "PYTHON_CONNECTOR_QUERY_RESULT_FORMAT",
  Go: "GO_QUERY_RESULT_FORMAT",
  JDBC: "JDBC_QUERY_RESULT_FORMAT",
  ODBC: "ODBC_QUERY_RESULT_FORMAT",
};

/** True for a driver that asks for Arrow with its request or in its session, or that usually gets it. */
export function wantsArrow(
  { owner, state }: LiveSession,
  asked: Readonly<Record<string, unknown>>,
): boolean {
  const [driver = ""] = owner.application.split(" ");
  const name = Object.hasOwn(parameterNames, driver) ? parameterNames[driver] : undefined;
  if (name === undefined) return false;
  const usual = parametersOf(state).find((parameter) => parameter.name === name)?.value;
  return /^arrow/i.test(String(asked[name] ?? usual ?? ""));
}
