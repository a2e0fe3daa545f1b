/** `docs/reference/errors.md`: every code of the catalogue with its answer in each protocol. */
import {
  errorCatalogue,
  errorCodes,
  type ErrorClass,
  type ErrorCode,
  type ErrorEntry,
  type RetryAdvice,
} from "@gateway/contract/error.ts";
import { gatewayError } from "@gateway/core/error.ts";
import { flightErrors } from "@gateway/frontends/flightSql/errors.ts";
import { refusalOf } from "@gateway/frontends/clickhouse/errors.ts";
import { mysqlErrors, type MysqlError } from "@gateway/frontends/mysql/errors.ts";
import { pgErrors, type PgError } from "@gateway/frontends/postgres/errors.ts";
import { mcpErrors } from "@gateway/frontends/mcp/errors.ts";
import { snowflakeErrors } from "@gateway/frontends/snowflake/errors.ts";
import { queryError, trinoErrors, type TrinoError } from "@gateway/frontends/trino/errors.ts";
import { advice, type Advice } from "./advice.ts";
import { code, page, table } from "./markdown.ts";

const introduction = [
  "Every refusal and every failure has one of these codes. The record of the query and the log carry",
  "the code; a client gets its protocol's own error. Where the engine said what is wrong with a",
  "statement, its message stands in place of the text here, and its SQLSTATE, where it has one, in place",
  "of the SQLSTATE here. No text holds a password, a token or an engine's internals.",
];

const classes: Record<ErrorClass, string> = {
  client: "the statement or the client",
  identity: "who the client is, or what it may do",
  capacity: "a limit",
  engine: "the cluster behind the gateway",
  gateway: "the gateway itself",
};

const retries: Record<RetryAdvice, string> = {
  never: "the same again fails again",
  later: "the same again later may work",
  reconnect: "the same again over a new connection may work",
};

/** The page. */
export function errorsPage(): string {
  return page([["# Errors"], introduction, ...errorCodes.flatMap(blocksOf)]);
}

function blocksOf(name: ErrorCode): readonly (readonly string[])[] {
  const entry: ErrorEntry = errorCatalogue[name];
  const { user, operator }: Advice = advice[name];
  return [
    [`## ${code(name)}`],
    [`> ${entry.text}`],
    [
      `- **About:** ${classes[entry.class]} (${code(entry.class)})`,
      `- **Retry:** ${retries[entry.retry]} (${code(entry.retry)})`,
      `- **As a user:** ${user}`,
      ...(operator === undefined ? [] : [`- **As an operator:** ${operator}`]),
    ],
    table(["Protocol", "Answer"], answersOf(name)),
  ];
}

function answersOf(name: ErrorCode): readonly (readonly string[])[] {
  return [
    ["PostgreSQL", postgresAnswer(pgErrors[name])],
    ["MySQL", mysqlAnswer(mysqlErrors[name])],
    ["Trino", trinoAnswer(name, trinoErrors[name])],
    ["Flight SQL", flightAnswer(flightErrors[name])],
    ["MCP", mcpAnswer(name)],
    ["ClickHouse", clickhouseAnswer(name)],
    ["Snowflake", snowflakeAnswer(name)],
  ];
}

function postgresAnswer({ sqlState, severity }: PgError): string {
  const after = severity === "FATAL" ? "; the connection is closed" : "";
  return `SQLSTATE ${code(sqlState)}, severity ${code(severity)}${after}`;
}

function mysqlAnswer({ errno, sqlState }: MysqlError): string {
  return `error ${code(String(errno))}, SQLSTATE ${code(sqlState)}`;
}

function trinoAnswer(name: ErrorCode, { status }: TrinoError): string {
  const { errorName, errorCode, errorType } = queryError(gatewayError(name), undefined);
  const http = status === 200 ? "" : `; HTTP ${status} where the request itself is refused`;
  return `${code(errorName)} (${errorCode}), type ${code(errorType)}${http}`;
}

/** `invalidArgument` as gRPC writes it: `INVALID_ARGUMENT`. */
function flightAnswer(name: string): string {
  return `status ${code(name.replaceAll(/[A-Z]/g, "_$&").toUpperCase())}`;
}

function mcpAnswer(name: ErrorCode): string {
  const { status, rpc } = mcpErrors[name];
  const number = `JSON-RPC ${code(String(rpc))}`;
  if (status !== 200) return `HTTP ${status} with ${number}`;
  return `a result with ${code("isError")}; ${number} for a resource`;
}

function snowflakeAnswer(name: ErrorCode): string {
  const { code: number, sqlState, status } = snowflakeErrors[name];
  const http = status === 200 ? "" : `, HTTP ${status}`;
  return `${code(number)}, SQLSTATE ${code(sqlState)}${http}`;
}

function clickhouseAnswer(name: ErrorCode): string {
  const { name: exception, code: number, status } = refusalOf(gatewayError(name));
  return `${code(exception)} (${number}), HTTP ${status}`;
}
