/**
 * The numbers of the MySQL client/server protocol: flags, type codes, command codes, charsets.
 *
 * Numbers only: the frontend decides which of them the server offers and what a neutral type becomes.
 * Source: "MySQL Internals, Client/Server Protocol".
 */

/** Longest payload of one physical packet; a payload of exactly this length is continued by the next packet. */
export const packetBytesMax = 0xff_ffff;

/** Bytes in front of every physical packet: 3 of length, 1 of sequence. */
export const packetHeaderBytes = 4;

/** Capability flags, exchanged in the handshake. */
export const capability = {
  longPassword: 1,
  foundRows: 1 << 1,
  longFlag: 1 << 2,
  connectWithDb: 1 << 3,
  noSchema: 1 << 4,
  compress: 1 << 5,
  odbc: 1 << 6,
  localFiles: 1 << 7,
  ignoreSpace: 1 << 8,
  protocol41: 1 << 9,
  interactive: 1 << 10,
  ssl: 1 << 11,
  ignoreSigpipe: 1 << 12,
  transactions: 1 << 13,
  reserved: 1 << 14,
  secureConnection: 1 << 15,
  multiStatements: 1 << 16,
  multiResults: 1 << 17,
  psMultiResults: 1 << 18,
  pluginAuth: 1 << 19,
  connectAttrs: 1 << 20,
  pluginAuthLenencData: 1 << 21,
  canHandleExpiredPasswords: 1 << 22,
  sessionTrack: 1 << 23,
  deprecateEof: 1 << 24,
  zstdCompression: 1 << 26,
  queryAttributes: 1 << 27,
} as const;

/**
 * Further flags, of MariaDB alone: 32 and up in its counting, sent where MySQL's handshake has zeros. Both sides leave
 * `longPassword` out to say that they stand there.
 */
export const mariadbCapability = {
  extendedMetadata: 1 << 3,
} as const;

/** Status flags of OK and EOF packets. */
export const serverStatus = {
  inTransaction: 1,
  autocommit: 1 << 1,
  moreResults: 1 << 3,
  cursorExists: 1 << 6,
  lastRowSent: 1 << 7,
  noBackslashEscapes: 1 << 9,
  inReadOnlyTransaction: 1 << 13,
  sessionStateChanged: 1 << 14,
} as const;

/** Type codes of columns and parameters. */
export const columnType = {
  decimal: 0x00,
  tiny: 0x01,
  short: 0x02,
  long: 0x03,
  float: 0x04,
  double: 0x05,
  null: 0x06,
  timestamp: 0x07,
  longlong: 0x08,
  int24: 0x09,
  date: 0x0a,
  time: 0x0b,
  datetime: 0x0c,
  year: 0x0d,
  newDate: 0x0e,
  varchar: 0x0f,
  bit: 0x10,
  json: 0xf5,
  newDecimal: 0xf6,
  enum: 0xf7,
  set: 0xf8,
  tinyBlob: 0xf9,
  mediumBlob: 0xfa,
  longBlob: 0xfb,
  blob: 0xfc,
  varString: 0xfd,
  string: 0xfe,
  geometry: 0xff,
} as const;

/** Flags of a column definition. */
export const columnFlag = {
  notNull: 1,
  primaryKey: 1 << 1,
  blob: 1 << 4,
  unsigned: 1 << 5,
  binary: 1 << 7,
} as const;

/** Ids of the collations that stand for a character set on the wire. */
export const collationId = {
  latin1: 8,
  ascii: 11,
  utf8mb3: 33,
  utf8mb4General: 45,
  binary: 63,
  utf8mb4: 255,
} as const;

/** First byte of a command packet. */
export const commandCode = {
  sleep: 0x00,
  quit: 0x01,
  initDb: 0x02,
  query: 0x03,
  fieldList: 0x04,
  createDb: 0x05,
  dropDb: 0x06,
  refresh: 0x07,
  shutdown: 0x08,
  statistics: 0x09,
  processInfo: 0x0a,
  processKill: 0x0c,
  debug: 0x0d,
  ping: 0x0e,
  changeUser: 0x11,
  stmtPrepare: 0x16,
  stmtExecute: 0x17,
  stmtSendLongData: 0x18,
  stmtClose: 0x19,
  stmtReset: 0x1a,
  setOption: 0x1b,
  stmtFetch: 0x1c,
  resetConnection: 0x1f,
} as const;

/** Why bytes are not a message of the protocol. `tooLarge` is known before memory is taken. */
export type ViolationCode = "tooLarge" | "outOfOrder" | "malformed";

export interface Violation {
  readonly kind: "violation";
  readonly code: ViolationCode;
  /** For the operator; holds no byte of the client. */
  readonly reason: string;
}

/** Makes a violation. */
export function violation(code: ViolationCode, reason: string): Violation {
  return { kind: "violation", code, reason };
}
