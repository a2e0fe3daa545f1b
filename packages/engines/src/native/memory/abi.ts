/**
 * ADBC 1.1.0 and the Arrow C data interface as they lie in memory on 64-bit platforms: sizes, offsets, and
 * the driver's table of functions in its order. Data only. Source: `adbc.h` 1.1.0, Arrow's C data
 * and C stream interface.
 */
import type { CType } from "./native.ts";

export const statusOk = 0;
/** `ADBC_STATUS_NOT_IMPLEMENTED`. */
export const statusNotImplemented = 2;
/** Newest first; a driver that refuses one is asked for the next. */
export const adbcVersions = [1_001_000, 1_000_000] as const;

/** `struct AdbcError`. */
export const errorStruct = {
  bytes: 48,
  message: 0,
  vendorCode: 8,
  sqlState: 12,
  sqlStateBytes: 5,
  release: 24,
  privateDriver: 40,
  /** Marks a caller of version 1.1.0; a driver that sets no vendor code leaves it. */
  vendorCodeUnset: -0x8000_0000,
} as const;

/** `AdbcDatabase`, `AdbcConnection` and `AdbcStatement`: private data, then the driver. */
export const handleStruct = { bytes: 16, privateData: 0, privateDriver: 8 } as const;

/** `struct ArrowSchema`. */
export const schemaStruct = {
  bytes: 72,
  format: 0,
  name: 8,
  metadata: 16,
  flags: 24,
  childCount: 32,
  children: 40,
  dictionary: 48,
  release: 56,
  flagNullable: 2,
} as const;

/** `struct ArrowArray`. */
export const arrayStruct = {
  bytes: 80,
  length: 0,
  nullCount: 8,
  offset: 16,
  bufferCount: 24,
  childCount: 32,
  buffers: 40,
  children: 48,
  dictionary: 56,
  release: 64,
} as const;

/** `struct ArrowArrayStream`. */
export const streamStruct = {
  bytes: 40,
  getSchema: 0,
  getNext: 8,
  getLastError: 16,
  release: 24,
} as const;

/** Where the functions begin in `struct AdbcDriver`, behind its two private pointers. */
export const driverTableStart = 16;

const P = "pointer";
const T = "text";
const N = "uint64";

/**
 * Arguments of each function, in the order of the table. Every one answers a status but
 * the three `Error…` ones, whose shape `driver.ts` knows.
 */
export const driverTable = {
  release: [P, P],
  DatabaseInit: [P, P],
  DatabaseNew: [P, P],
  DatabaseSetOption: [P, T, T, P],
  DatabaseRelease: [P, P],
  ConnectionCommit: [P, P],
  ConnectionGetInfo: [P, P, N, P, P],
  ConnectionGetObjects: [P, "int32", T, T, T, P, T, P, P],
  ConnectionGetTableSchema: [P, T, T, T, P, P],
  ConnectionGetTableTypes: [P, P, P],
  ConnectionInit: [P, P, P],
  ConnectionNew: [P, P],
  ConnectionSetOption: [P, T, T, P],
  ConnectionReadPartition: [P, P, N, P, P],
  ConnectionRelease: [P, P],
  ConnectionRollback: [P, P],
  StatementBind: [P, P, P, P],
  StatementBindStream: [P, P, P],
  StatementExecuteQuery: [P, P, P, P],
  StatementExecutePartitions: [P, P, P, P, P],
  StatementGetParameterSchema: [P, P, P],
  StatementNew: [P, P, P],
  StatementPrepare: [P, P],
  StatementRelease: [P, P],
  StatementSetOption: [P, T, T, P],
  StatementSetSqlQuery: [P, T, P],
  StatementSetSubstraitPlan: [P, P, N, P],
  ErrorGetDetailCount: [P],
  ErrorGetDetail: [P, "int32"],
  ErrorFromArrayStream: [P, P],
  DatabaseGetOption: [P, T, P, P, P],
  DatabaseGetOptionBytes: [P, T, P, P, P],
  DatabaseGetOptionDouble: [P, T, P, P],
  DatabaseGetOptionInt: [P, T, P, P],
  DatabaseSetOptionBytes: [P, T, P, N, P],
  DatabaseSetOptionDouble: [P, T, "double", P],
  DatabaseSetOptionInt: [P, T, "int64", P],
  ConnectionCancel: [P, P],
  ConnectionGetOption: [P, T, P, P, P],
  ConnectionGetOptionBytes: [P, T, P, P, P],
  ConnectionGetOptionDouble: [P, T, P, P],
  ConnectionGetOptionInt: [P, T, P, P],
  ConnectionGetStatistics: [P, T, T, T, "int32", P, P],
  ConnectionGetStatisticNames: [P, P, P],
  ConnectionSetOptionBytes: [P, T, P, N, P],
  ConnectionSetOptionDouble: [P, T, "double", P],
  ConnectionSetOptionInt: [P, T, "int64", P],
  StatementCancel: [P, P],
  StatementExecuteSchema: [P, P, P],
  StatementGetOption: [P, T, P, P, P],
  StatementGetOptionBytes: [P, T, P, P, P],
  StatementGetOptionDouble: [P, T, P, P],
  StatementGetOptionInt: [P, T, P, P],
  StatementSetOptionBytes: [P, T, P, N, P],
  StatementSetOptionDouble: [P, T, "double", P],
  StatementSetOptionInt: [P, T, "int64", P],
} as const satisfies Record<string, readonly CType[]>;

export type DriverFunction = keyof typeof driverTable;

/** Names in table order. */
export const driverFunctions = Object.keys(driverTable) as readonly DriverFunction[];

/** `struct AdbcDriver` of version 1.1.0. */
export const driverBytes = driverTableStart + driverFunctions.length * 8;
