/** What a MySQL server says about itself, whatever engine is behind it. Data only. */
import type { Row } from "./filter.ts";

/** Its name for itself. Drivers read a version of MySQL 8.4 out of it and act on that. */
export const serverVersion = "8.4.0-gateway";

/** Columns of SHOW CHARACTER SET. */
export const charsetColumns = ["Charset", "Description", "Default collation", "Maxlen"];
/** The character sets that are read. */
export const charsetRows: readonly Row[] = [
  ["ascii", "US ASCII", "ascii_general_ci", "1"],
  ["binary", "Binary pseudo charset", "binary", "1"],
  ["latin1", "cp1252 West European", "latin1_swedish_ci", "1"],
  ["utf8mb3", "UTF-8 Unicode", "utf8mb3_general_ci", "3"],
  ["utf8mb4", "UTF-8 Unicode", "utf8mb4_0900_ai_ci", "4"],
];

/** A listing that never changes. */
export interface ServerTable {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

const collations: ServerTable = {
  columns: ["Collation", "Charset", "Id", "Default", "Compiled", "Sortlen", "Pad_attribute"],
  rows: [
    ["ascii_general_ci", "ascii", "11", "Yes", "Yes", "1", "PAD SPACE"],
    ["binary", "binary", "63", "Yes", "Yes", "1", "NO PAD"],
    ["latin1_swedish_ci", "latin1", "8", "Yes", "Yes", "1", "PAD SPACE"],
    ["utf8mb3_general_ci", "utf8mb3", "33", "Yes", "Yes", "1", "PAD SPACE"],
    ["utf8mb4_0900_ai_ci", "utf8mb4", "255", "Yes", "Yes", "0", "NO PAD"],
    ["utf8mb4_bin", "utf8mb4", "46", "", "Yes", "1", "PAD SPACE"],
    ["utf8mb4_general_ci", "utf8mb4", "45", "", "Yes", "1", "PAD SPACE"],
    ["utf8mb4_unicode_ci", "utf8mb4", "224", "", "Yes", "8", "PAD SPACE"],
  ],
};

const engines: ServerTable = {
  columns: ["Engine", "Support", "Comment", "Transactions", "XA", "Savepoints"],
  rows: [["Gateway", "DEFAULT", "Tables of the cluster behind the gateway", "YES", "NO", "NO"]],
};

const plugins: ServerTable = {
  columns: ["Name", "Status", "Type", "Library", "License"],
  rows: [
    ["caching_sha2_password", "ACTIVE", "AUTHENTICATION", null, "Apache-2.0"],
    ["mysql_clear_password", "ACTIVE", "AUTHENTICATION", null, "Apache-2.0"],
  ],
};

/** Listings about the server, by the word behind SHOW. */
export const serverTables: Readonly<Record<string, ServerTable>> = {
  CHARSET: { columns: charsetColumns, rows: charsetRows },
  COLLATION: collations,
  ENGINES: engines,
  PLUGINS: plugins,
};
