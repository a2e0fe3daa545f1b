/** What to do about each error of the catalogue: the person at the client, then whoever runs the gateway. */
import type { ErrorCode } from "@gateway/contract/error.ts";

export interface Advice {
  /** For whoever sent the query. */
  readonly user: string;
  /** For whoever runs the gateway; absent where there is nothing to run differently. */
  readonly operator?: string;
}

export const advice = {
  "config.notReady": {
    user: "Try again in a few seconds.",
    operator: "Look at `/readyz`: the process takes queries as soon as a configuration is active.",
  },
  "gateway.draining": {
    user: "Connect again; the new connection reaches a process that goes on.",
    operator:
      "Take a process out of the balancer before it is stopped. `gateway.shutdownDrainTimeoutSecs` says how long running queries may take.",
  },
  "internal.bug": {
    user: "Report the query id.",
    operator:
      "Search the log for the query id: the line holds the stack. `gateway_bugs_total` counts these.",
  },
  "auth.required": {
    user: "Log in: set a user and a password, or a token, in the client.",
    operator: "`auth.required` decides whether queries without a login are taken.",
  },
  "auth.refused": {
    user: "Check the user name and the password or token.",
    operator:
      "The answer does not tell an unknown user from a wrong password. `gateway_auth_failures_total` that grows quickly is somebody guessing.",
  },
  "auth.cleartext": {
    user: "Turn TLS on in the client (`sslmode=require`, `--ssl-mode=REQUIRED`, `https://`).",
    operator:
      "Give the listener a certificate (`tls`). Set `allowCleartext` only where the network in front of it is trusted.",
  },
  "auth.expired": {
    user: "Connect again with a fresh login.",
    operator: "A change of users or groups ends the logins it takes away.",
  },
  "auth.unavailable": {
    user: "Try again shortly.",
    operator:
      "Passwords are checked one after the other. Many logins at once wait for each other: let clients keep their connections.",
  },
  "auth.noBackendIdentity": {
    user: "Log in with a credential that the engine accepts too.",
    operator:
      "`queryAuth.type` of the cluster asks for more than this login has. The gateway never falls back to its own account.",
  },
  "policy.denied": {
    user: "Read the message: it says what a statement must be to run here.",
    operator:
      "`policyActions` of the query's record name the guard, or `agentWrites` of the group.",
  },
  "policy.unavailable": {
    user: "Try again shortly.",
    operator:
      "The server under `accessControl` was not reached, took longer than its `timeoutMs`, or gave an answer that can not be used; the log has `policy.unavailable` with the reason. Statements are refused as long as that lasts. Under a `catalogProvider` the same holds for its server, and the log has `catalog.unavailable`; where it is `engine`, clusters of a group that do not agree on a table are `catalog.disagrees`; under a guard of the type `webhook` for its service, and the log has `guard.unavailable`.",
  },
  "script.failed": {
    user: "Ask the operators: the query met a script of the configuration that failed.",
    operator:
      "The log has `script.failed` with the name of the script, what went wrong (`time`, `memory`, `threw`, `answer`, `lost`) and the line; `POST /admin/script-test` runs it on an example. A router, a condition, a guard or a rewrite that fails refuses the query; a strategy that fails lets the members take turns.",
  },
  "script.busy": {
    user: "Try again shortly.",
    operator:
      "Scripts run one at a time, in turns by user; 1,000 calls may wait, and each for two seconds. A user whose queries make scripts run out of time is refused for a second after the third.",
  },
  "translation.busy": {
    user: "Try again shortly.",
    operator:
      "Statements are translated one at a time, short and long ones in a line each, in turns by user. 1,000 may wait. A statement that takes three seconds is refused, and the thread that it kept is started again.",
  },
  "route.denied": {
    user: "Read the message: the rule's author wrote it.",
    operator: "A `queryRegex` rule with `action: deny` matched; the routing trace says which.",
  },
  "route.forbidden": {
    user: "Ask to be let into the cluster group.",
    operator:
      "Neither list of `clusterGroups.<name>.authorization` has the user or one of its groups.",
  },
  "route.noGroup": {
    user: "Ask which cluster group to use.",
    operator:
      "No router matched, and the user may use neither `routingFallback` nor any enabled group.",
  },
  "capacity.queueFull": {
    user: "Try again later, with a pause between attempts.",
    operator:
      "`maxQueuedQueries` of the group is reached. `gateway_queued_queries` and `gateway_queue_duration_seconds` say whether the clusters are too small or one client sends too much.",
  },
  "capacity.timeout": {
    user: "Try again later, when less is running.",
    operator:
      "The query waited for `capacityWaitTimeoutSecs`. Raise `maxRunningQueries` if the clusters can take more, or add one.",
  },
  "capacity.lost": {
    user: "Send the query again.",
    operator:
      "The worker stood still or was cut off from the control plane for so long that its lease was given up. `gateway_coordination_failures_total` and the log of the worker say when.",
  },
  "capacity.statementText": {
    user: "Try again shortly, with shorter statements or one at a time.",
    operator:
      "Texts beyond 64 Ki characters are read one after the other, in turns by user; 64 Mi characters may wait in a process, and half of that for one user. Messages of more than a megabyte to the PostgreSQL and MySQL listeners wait half a minute for room instead: 128 MiB of them may be in a process, from their first byte until they are answered, and half of that of one user.",
  },
  "connection.limit": {
    user: "Close connections that are not used, or use a smaller pool.",
    operator: "`maxConnections` or `maxConnectionsPerAddress` of the listener is reached.",
  },
  "cluster.unavailable": {
    user: "Try again later.",
    operator:
      "Every member of the group is disabled, unhealthy or held back by its circuit breaker; the log has an event for each change.",
  },
  "cluster.connectFailed": {
    user: "Try again later.",
    operator:
      "The query did not reach any member of the group, so nothing of it ran. Check the address and the network of the cluster that the record names.",
  },
  "engine.failed": {
    user: "Read the message; it is the engine's where the engine gave one that may be shown.",
    operator: "Look into the engine's own log at the time of the record.",
  },
  "engine.resources": {
    user: "Ask for less at once, or try again when less is running.",
    operator:
      "The engine hit a limit of memory, disk or threads. Raise it there, or lower `maxRunningQueries`.",
  },
  "engine.crashed": {
    user: "Run the query again if it only reads; if it crashes again, write it another way. The connection goes on, a transaction does not.",
    operator:
      "The log line `driver.crashed` says how the process ended. Contents of a database in memory are gone, unless its source fills it again.",
  },
  "engine.broken": {
    user: "Run the query again if it only reads. What arrived is not the whole result.",
    operator: "The engine's connection ended inside a result; look for a restart of it.",
  },
  "query.syntax": { user: "Correct the SQL at the position that the message gives." },
  "query.unknownObject": {
    user: "Check the name, and the catalog and schema that the session is in.",
  },
  "query.invalid": { user: "Correct the statement after the engine's message." },
  "query.data": {
    user: "Find the value that the message names, or convert it with a function that gives NULL.",
  },
  "query.constraint": { user: "Correct the row that breaks the constraint." },
  "query.conflict": { user: "Roll back and run the whole transaction again." },
  "query.permission": {
    user: "Ask for the right in the engine.",
    operator:
      "The account that the engine saw lacks the right, or the statement would reach beyond what clients may touch (files of the host, extensions).",
  },
  "query.unsupported": { user: "Say it in another way; the message names what is not supported." },
  "query.parameters": {
    user: "Send as many parameters as the statement has places, each of a type that fits.",
  },
  "query.transaction": {
    user: "Check where the transaction begins and ends: the statement is only allowed inside, or only outside of one.",
  },
  "query.transactionAborted": { user: "Send ROLLBACK, then begin again." },
  "query.idleInTransaction": {
    user: "Begin again, and end transactions without waiting for people.",
    operator: "`gateway.idleInTransactionSecs` sets the time; an open transaction holds a slot.",
  },
  "query.transactionTimeout": {
    user: "Begin again, and do less in one transaction.",
    operator:
      "`maxTransactionSecs` of the group sets the time; an open transaction holds a slot, whatever it does.",
  },
  "query.cancelled": { user: "Nothing: somebody, usually the client itself, ended the query." },
  "query.abandoned": {
    user: "Fetch results without long pauses.",
    operator: "A client that vanished without a word leaves this in the records.",
  },
  "query.timeout": {
    user: "Ask for less, or use a group that is meant for long queries.",
    operator: "`maxExecutionSecs` of the group ended it.",
  },
  "query.tooManyRows": {
    user: "Add a LIMIT, aggregate, or use a group that allows more rows.",
    operator: "`maxRows` of the group ended it.",
  },
  "query.textTooLarge": {
    user: "Send data as parameters, by COPY or by LOAD, or in several statements. Drivers of MySQL write values into the text unless the server prepares the statement: `useServerPrepStmts=true` of Connector/J, `execute` of mysql2.",
    operator:
      "`maxStatementBytes` and `maxStatementTokens` of the listener are the limits. Without a value a text may be 16 MiB long where it goes on in its client's own words, to clusters of engine `postgresql` or `mysql` with nothing configured that reads texts, and 1 MiB elsewhere.",
  },
  "query.unknown": {
    user: "Run the query again: its result is kept only for a short while after its end.",
    operator: "Other people's queries are answered in the same way.",
  },
  "query.elsewhere": {
    user: "Try again; the balancer may reach the right instance.",
    operator:
      "Set `gateway.relay` on all instances, or make the balancer send each client to one (affinity by address or cookie). With `relay`: the instance that had the query is gone, or its relay port is not reached.",
  },
  "protocol.violation": {
    user: "Check that the client speaks this protocol and that the port is the right one.",
    operator:
      "From many addresses at once this is a scan, or a balancer that sends the PROXY header to a listener without `proxyProtocol`.",
  },
  "protocol.tooLarge": {
    user: "Send smaller statements: load data in parts.",
    operator: "`maxMessageBytes` of the listener is the limit.",
  },
  "protocol.timeout": {
    user: "Connect again.",
    operator: "The client, or something between, stopped in the middle of a login or a message.",
  },
} as const satisfies Record<ErrorCode, Advice>;
