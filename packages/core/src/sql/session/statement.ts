/** What the statements that change a session say, as values. Data only; `session.ts` reads them from text. */

/** A value as it was written, as far as it is plain. */
export type SettingValue =
  /** A string literal, decoded. */
  | { readonly kind: "text"; readonly text: string }
  /** A number with its sign, as written. */
  | { readonly kind: "number"; readonly text: string }
  /** A word or quoted name: `on`, `utf8mb4`, `"MySchema"`. Unquoted words keep their case. */
  | { readonly kind: "word"; readonly text: string }
  | { readonly kind: "default" }
  /** An expression, as written: `concat(@@sql_mode, ',X')`. */
  | { readonly kind: "raw"; readonly text: string };

/**
 * For whom a setting is meant. `local` is PostgreSQL's "until the transaction ends"; MySQL's LOCAL is `session`. `bare`
 * is MySQL's `@@name` without a scope: as `unsaid`, but for the variables of transactions, where it is the next one's.
 */
export type SettingScope =
  | "unsaid"
  | "bare"
  | "session"
  | "local"
  | "global"
  | "persist"
  | "persistOnly";

/** One change that a `SET` asks for. Names are in lower case; `a.b` keeps its dots. */
export type SettingChange =
  | {
      readonly kind: "variable";
      readonly scope: SettingScope;
      readonly name: string;
      /** More than one only in dialects with lists of values, as `SET search_path = a, b`. */
      readonly values: readonly SettingValue[];
    }
  /** MySQL's `@name`, DuckDB's `SET VARIABLE name`. */
  | { readonly kind: "userVariable"; readonly name: string; readonly value: SettingValue }
  /** `SET NAMES`, `SET CHARACTER SET`. */
  | {
      readonly kind: "names";
      readonly charset: SettingValue;
      readonly collation: SettingValue | undefined;
    }
  | { readonly kind: "timeZone"; readonly scope: SettingScope; readonly value: SettingValue }
  /** `SET TRANSACTION` (the current or next one), or the session's default for later ones. */
  | {
      readonly kind: "transaction";
      readonly scope: "next" | "session" | "global";
      readonly modes: TransactionModes;
    }
  | { readonly kind: "role"; readonly role: SettingValue; readonly catalog: string | undefined }
  | { readonly kind: "authorization"; readonly user: SettingValue };

/** True for a change of the server's own variables, which all its sessions share. */
export function isOfServer(change: SettingChange): boolean {
  if (change.kind === "transaction") return change.scope === "global";
  return change.kind === "variable" && serverScopes.has(change.scope);
}

const serverScopes: ReadonlySet<SettingScope> = new Set(["global", "persist", "persistOnly"]);

/** The isolation of a transaction. */
export type Isolation = "readUncommitted" | "readCommitted" | "repeatableRead" | "serializable";

/** The modes that were given for a transaction; undefined where none was. */
export interface TransactionModes {
  readonly isolation: Isolation | undefined;
  readonly readOnly: boolean | undefined;
  readonly deferrable: boolean | undefined;
  readonly consistentSnapshot: boolean;
}

/** True where one was given that a transaction which is open already would have to take. */
export function asksModes({ isolation, readOnly, deferrable }: TransactionModes): boolean {
  return isolation !== undefined || readOnly !== undefined || deferrable !== undefined;
}

/** Of a plain BEGIN. */
export const noModes: TransactionModes = {
  isolation: undefined,
  readOnly: undefined,
  deferrable: undefined,
  consistentSnapshot: false,
};

/** One part of a dotted name, without quotes. */
export interface NamePart {
  readonly text: string;
  readonly quoted: boolean;
}

/** A statement about the session itself. Names of statements and savepoints are folded when unquoted. */
export type SessionStatement =
  | { readonly kind: "set"; readonly changes: readonly SettingChange[] }
  | { readonly kind: "reset"; readonly name: string }
  | { readonly kind: "resetAll" }
  /** The name of one setting, in lower case, or `all`. What it means is the caller's: `SHOW tables` has the same shape. */
  | { readonly kind: "show"; readonly name: string }
  /** `object` is the word in Snowflake's `USE ROLE x`, in lower case. */
  | {
      readonly kind: "use";
      readonly object: string | undefined;
      readonly path: readonly NamePart[];
    }
  | { readonly kind: "begin"; readonly modes: TransactionModes }
  | { readonly kind: "commit"; readonly chain: boolean; readonly release: boolean }
  | { readonly kind: "rollback"; readonly chain: boolean; readonly release: boolean }
  | { readonly kind: "savepoint"; readonly name: string }
  | { readonly kind: "releaseSavepoint"; readonly name: string }
  | { readonly kind: "rollbackToSavepoint"; readonly name: string }
  | { readonly kind: "discard"; readonly what: "all" | "plans" | "sequences" | "temp" }
  /** `types` are the written types of the parameters; `sql` is the statement's text. */
  | {
      readonly kind: "prepare";
      readonly name: string;
      readonly types: readonly string[];
      readonly sql: string;
    }
  | { readonly kind: "execute"; readonly name: string; readonly values: readonly SettingValue[] }
  | {
      readonly kind: "executeImmediate";
      readonly sql: string;
      readonly values: readonly SettingValue[];
    }
  | { readonly kind: "deallocate"; readonly name: string }
  | { readonly kind: "deallocateAll" }
  /** `id` as written: a number, or text for engines that name queries. */
  | { readonly kind: "kill"; readonly target: "connection" | "query"; readonly id: string };

/** A statement about a savepoint. */
export type Division = Extract<
  SessionStatement,
  { kind: "savepoint" | "releaseSavepoint" | "rollbackToSavepoint" }
>;
