/**
 * The catalogue of everything that can be refused or can fail, written once.
 *
 * Each frontend maps every code to its protocol's own error (`satisfies Record<ErrorCode, …>`), and
 * `docs/reference/errors.md` has one heading per code. It is not the place for a protocol's numbers.
 */

/** What a client does next: nothing (`never`), the same again later (`later`), or the same again elsewhere or after a new connection (`reconnect`). */
export type RetryAdvice = "never" | "later" | "reconnect";

/** Whose fault it is; decides log level and the colour in a dashboard. */
export type ErrorClass = "client" | "identity" | "capacity" | "engine" | "gateway";

export interface ErrorEntry {
  readonly class: ErrorClass;
  readonly retry: RetryAdvice;
  /** Public text. Codes of class `client` raised by an engine carry the engine's own message instead. */
  readonly text: string;
}

export const errorCatalogue = {
  "config.notReady": {
    class: "gateway",
    retry: "later",
    text: "The gateway has no active configuration yet.",
  },
  "gateway.draining": {
    class: "gateway",
    retry: "reconnect",
    text: "The gateway is shutting down and takes no new queries.",
  },
  "internal.bug": {
    class: "gateway",
    retry: "never",
    text: "The gateway failed internally. The query id is in its log.",
  },
  "auth.required": { class: "identity", retry: "never", text: "Authentication is required." },
  "auth.refused": {
    class: "identity",
    retry: "never",
    text: "The user name or the credential is wrong.",
  },
  "auth.cleartext": {
    class: "identity",
    retry: "never",
    text: "Credentials are accepted over TLS only.",
  },
  "auth.expired": {
    class: "identity",
    retry: "reconnect",
    text: "The session's login has expired or was withdrawn.",
  },
  "auth.unavailable": {
    class: "identity",
    retry: "later",
    text: "The identity provider did not answer in time.",
  },
  "auth.noBackendIdentity": {
    class: "identity",
    retry: "never",
    text: "No identity for the engine could be made for this user.",
  },
  "policy.denied": { class: "identity", retry: "never", text: "A policy denies this query." },
  "policy.unavailable": {
    class: "identity",
    retry: "later",
    text: "The policy server did not say in time what this query may see.",
  },
  "script.failed": {
    class: "gateway",
    retry: "never",
    text: "A script of the configuration failed on this query.",
  },
  "script.busy": {
    class: "capacity",
    retry: "later",
    text: "Too many queries wait for scripts of the configuration.",
  },
  "translation.busy": {
    class: "capacity",
    retry: "later",
    text: "Too many statements wait to be translated, or the translator was ended.",
  },
  "route.denied": { class: "identity", retry: "never", text: "A routing rule denies this query." },
  "route.forbidden": {
    class: "identity",
    retry: "never",
    text: "The user may not use the cluster group.",
  },
  "route.noGroup": {
    class: "client",
    retry: "never",
    text: "No cluster group is available for this query.",
  },
  "capacity.queueFull": {
    class: "capacity",
    retry: "later",
    text: "The queue of the cluster group is full.",
  },
  "capacity.timeout": {
    class: "capacity",
    retry: "later",
    text: "No slot became free within the capacity wait timeout.",
  },
  "capacity.lost": {
    class: "capacity",
    retry: "later",
    text: "The slot of this query was lost; the query has been ended.",
  },
  "capacity.statementText": {
    class: "capacity",
    retry: "later",
    text: "Too many long statements wait to be read.",
  },
  "connection.limit": { class: "capacity", retry: "later", text: "Too many connections." },
  "cluster.unavailable": {
    class: "engine",
    retry: "later",
    text: "No cluster of the group is available.",
  },
  "cluster.connectFailed": {
    class: "engine",
    retry: "later",
    text: "The cluster could not be reached.",
  },
  "engine.failed": { class: "engine", retry: "never", text: "The engine failed." },
  "engine.resources": { class: "engine", retry: "later", text: "The engine ran out of resources." },
  "engine.crashed": {
    class: "engine",
    retry: "later",
    text: "The engine's process ended while the statement ran; it is started again.",
  },
  "engine.broken": {
    class: "engine",
    retry: "never",
    text: "The engine's answer broke off before its end.",
  },
  "query.syntax": { class: "client", retry: "never", text: "The SQL text is not valid." },
  "query.unknownObject": {
    class: "client",
    retry: "never",
    text: "A table, column, function or type does not exist.",
  },
  "query.invalid": { class: "client", retry: "never", text: "The statement is not valid." },
  "query.data": {
    class: "client",
    retry: "never",
    text: "A value could not be converted or computed.",
  },
  "query.constraint": {
    class: "client",
    retry: "never",
    text: "A constraint of the table is violated.",
  },
  "query.conflict": {
    class: "client",
    retry: "later",
    text: "A concurrent transaction changed the same rows.",
  },
  "query.permission": {
    class: "client",
    retry: "never",
    text: "The engine does not permit this statement.",
  },
  "query.unsupported": {
    class: "client",
    retry: "never",
    text: "The gateway or the engine does not support this.",
  },
  "query.parameters": {
    class: "client",
    retry: "never",
    text: "The parameters do not fit the statement.",
  },
  "query.transaction": {
    class: "client",
    retry: "never",
    text: "The statement is not allowed in this transaction state.",
  },
  "query.transactionAborted": {
    class: "client",
    retry: "never",
    text: "The current transaction is aborted; statements are ignored until its end.",
  },
  "query.idleInTransaction": {
    class: "client",
    retry: "reconnect",
    text: "The transaction was idle for too long and has been rolled back.",
  },
  "query.transactionTimeout": {
    class: "client",
    retry: "reconnect",
    text: "The transaction lived longer than the group allows and has been rolled back.",
  },
  "query.cancelled": { class: "client", retry: "never", text: "The query was cancelled." },
  "query.abandoned": {
    class: "client",
    retry: "never",
    text: "The query was ended because nobody asked for its result.",
  },
  "query.timeout": {
    class: "capacity",
    retry: "never",
    text: "The query ran longer than the group allows.",
  },
  "query.tooManyRows": {
    class: "capacity",
    retry: "never",
    text: "The result has more rows than the group allows.",
  },
  "query.textTooLarge": {
    class: "client",
    retry: "never",
    text: "The text of the statement is larger than the limit.",
  },
  "query.unknown": { class: "client", retry: "never", text: "There is no such query." },
  "query.elsewhere": {
    class: "gateway",
    retry: "later",
    text: "The query lives on another instance of the gateway.",
  },
  "protocol.violation": {
    class: "client",
    retry: "reconnect",
    text: "The message breaks the protocol.",
  },
  "protocol.tooLarge": {
    class: "client",
    retry: "reconnect",
    text: "The message is larger than the limit.",
  },
  "protocol.timeout": {
    class: "client",
    retry: "reconnect",
    text: "The client did not finish its part in time.",
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

/** Every code, in the order of the catalogue. */
export const errorCodes = Object.keys(errorCatalogue) as readonly ErrorCode[];
