/** What MySQL's family says when it fails, as errors of the catalogue: by its number and SQLSTATE alone. */
import type { ErrorCode } from "@gateway/contract/error.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";

/** Longest message passed on. */
const messageLengthMax = 2_000;

/** An ERR packet. */
export interface ServerError {
  readonly number: number;
  readonly sqlState: string;
  readonly message: string;
}

/** The catalogue's error of a statement's failure. */
export function errorOf({ number, sqlState, message }: ServerError): GatewayError {
  const code = codeOf(number, sqlState);
  if (code === undefined) return gatewayError("engine.failed", { detail: `error ${number}` });
  if (code === "cluster.connectFailed") return gatewayError(code, { detail: `error ${number}` });
  const shown =
    message.length <= messageLengthMax ? message : `${message.slice(0, messageLengthMax)}…`;
  const vendor = { of: "mysql", code: number, sqlState } as const;
  return gatewayError(code, { message: shown, sqlState, vendor });
}

function codeOf(number: number, sqlState: string): ErrorCode | undefined {
  // A statement may raise any state of its own (SIGNAL).
  const own = /^(?:0[12]|4[3-9]|[5-6I-Z])/.test(sqlState) ? "query.invalid" : undefined;
  return numbers[number] ?? classes[sqlState.slice(0, 2)] ?? states[sqlState] ?? own;
}

/** Numbers that say more than their SQLSTATE. */
const numbers: Readonly<Record<number, ErrorCode>> = {
  // The server's limits: not the client's fault, and another member may do.
  1040: "cluster.connectFailed",
  1129: "cluster.connectFailed",
  1130: "cluster.connectFailed",
  1203: "cluster.connectFailed",
  1226: "engine.resources",
  1037: "engine.resources",
  1038: "engine.resources",
  1041: "engine.resources",
  1114: "engine.resources",
  5015: "engine.resources",
  1046: "query.invalid",
  1049: "query.unknownObject",
  1050: "query.invalid",
  1051: "query.unknownObject",
  1054: "query.unknownObject",
  1064: "query.syntax",
  1146: "query.unknownObject",
  1305: "query.unknownObject",
  1193: "query.unknownObject",
  5501: "query.unknownObject",
  5502: "query.unknownObject",
  1065: "query.syntax",
  1149: "query.syntax",
  1044: "query.permission",
  // Of a statement, such as one that writes a file; a refused login does not come here.
  1045: "query.permission",
  1142: "query.permission",
  1143: "query.permission",
  1227: "query.permission",
  1290: "query.permission",
  1370: "query.permission",
  5203: "query.permission",
  1205: "query.conflict",
  1213: "query.conflict",
  1235: "query.unsupported",
  1289: "query.unsupported",
  1295: "query.unsupported",
  1210: "query.parameters",
  1792: "query.transaction",
  1568: "query.transaction",
  1317: "query.cancelled",
  1969: "query.timeout",
  3024: "query.timeout",
  1153: "query.data",
  1301: "query.data",
  1365: "query.data",
  1690: "query.data",
  1022: "query.constraint",
  1048: "query.constraint",
  1062: "query.constraint",
  1216: "query.constraint",
  1217: "query.constraint",
  1451: "query.constraint",
  1452: "query.constraint",
  3819: "query.constraint",
  4025: "query.constraint",
};

const classes: Readonly<Record<string, ErrorCode>> = {
  "08": "cluster.connectFailed",
  "0A": "query.unsupported",
  "21": "query.invalid",
  "22": "query.data",
  "23": "query.constraint",
  "25": "query.transaction",
  // Of a statement: a refused login does not come here.
  "28": "query.permission",
  "40": "query.conflict",
  "42": "query.invalid",
  "70": "query.cancelled",
};

const states: Readonly<Record<string, ErrorCode>> = {
  // "General error", which StarRocks uses for nearly everything about a statement.
  HY000: "query.invalid",
};
