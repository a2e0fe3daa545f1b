/** What is known of a driver by its name: in which form it wants rows, and whether it writes values into statements. */
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
  asked: Readonly<Record<string, string | number | boolean | null>>,
): boolean {
  const driver = driverOf(owner);
  const name = Object.hasOwn(parameterNames, driver) ? parameterNames[driver] : undefined;
  if (name === undefined) return false;
  const usual = parametersOf(state).find((parameter) => parameter.name === name)?.value;
  return /^arrow/i.test(String(asked[name] ?? usual ?? ""));
}

/** Those that send values beside the text. Python's, and what is built on it under names of its own, writes them into it. */
const bindingDrivers: ReadonlySet<string> = new Set(["JavaScript", "Go", "JDBC", "ODBC", ".NET"]);

/** True where texts in a statement may be values that a driver wrote there, so that they are in Snowflake's spelling. */
export function writesValues({ owner }: Pick<LiveSession, "owner">): boolean {
  const driver = driverOf(owner);
  return driver !== "" && !bindingDrivers.has(driver);
}

function driverOf({ application }: LiveSession["owner"]): string {
  return application.split(" ")[0] ?? "";
}
