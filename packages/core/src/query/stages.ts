/**
 * A query with what the next stage of its way added.
 *
 * Every field by its name instead of a spread: each query passes here five times, and a copy by spread
 * costs as much as the rest of a stage. The types see to it that none is forgotten.
 */
import type { Slot } from "./slot.ts";
import type { BackendIdentity } from "./identity.ts";
import type { Admitted, Guarded, Identified, Policed, Query, Routed, Translated } from "./query.ts";

/** With what a client of the engine's own protocol sent beside the text. */
export function sentWith(
  query: Query,
  { takes, call, mysql }: Pick<Query, "takes" | "call" | "mysql">,
): Query {
  return {
    id: query.id,
    sql: query.sql,
    statement: query.statement,
    parameters: query.parameters,
    session: query.session,
    takes,
    call,
    mysql,
    relay: query.relay,
    lists: query.lists,
    receivedAtMs: query.receivedAtMs,
  };
}

/** With what a client of ClickHouse sent beside the text. */
export function relayedWith(query: Query, relay: Query["relay"]): Query {
  return {
    id: query.id,
    sql: query.sql,
    statement: query.statement,
    parameters: query.parameters,
    session: query.session,
    takes: query.takes,
    call: query.call,
    mysql: query.mysql,
    relay,
    lists: query.lists,
    receivedAtMs: query.receivedAtMs,
  };
}

export function routedTo(query: Query, group: string, trace: Routed["trace"]): Routed {
  return {
    id: query.id,
    sql: query.sql,
    statement: query.statement,
    parameters: query.parameters,
    session: query.session,
    takes: query.takes,
    call: query.call,
    mysql: query.mysql,
    relay: query.relay,
    lists: query.lists,
    receivedAtMs: query.receivedAtMs,
    group,
    trace,
  };
}

export function policedAs(
  query: Routed,
  allowedSql: string,
  guarded?: Guarded,
  order?: readonly string[],
): Policed {
  return {
    id: query.id,
    sql: query.sql,
    statement: query.statement,
    parameters: query.parameters,
    session: query.session,
    takes: query.takes,
    call: query.call,
    mysql: query.mysql,
    relay: query.relay,
    receivedAtMs: query.receivedAtMs,
    group: query.group,
    trace: query.trace,
    allowedSql,
    guarded,
    order,
  };
}

export function admittedOn(query: Policed, slot: Slot): Admitted {
  return {
    id: query.id,
    sql: query.sql,
    statement: query.statement,
    parameters: query.parameters,
    session: query.session,
    takes: query.takes,
    call: query.call,
    mysql: query.mysql,
    relay: query.relay,
    receivedAtMs: query.receivedAtMs,
    group: query.group,
    trace: query.trace,
    allowedSql: query.allowedSql,
    guarded: query.guarded,
    order: query.order,
    slot,
  };
}

export function translatedTo(
  query: Admitted,
  engineSql: string,
  maxExecutionMs: number | undefined,
): Translated {
  return {
    id: query.id,
    sql: query.sql,
    statement: query.statement,
    parameters: query.parameters,
    session: query.session,
    takes: query.takes,
    call: query.call,
    mysql: query.mysql,
    relay: query.relay,
    receivedAtMs: query.receivedAtMs,
    group: query.group,
    trace: query.trace,
    allowedSql: query.allowedSql,
    guarded: query.guarded,
    order: query.order,
    slot: query.slot,
    engineSql,
    maxExecutionMs,
  };
}

export function identifiedAs(query: Translated, backendIdentity: BackendIdentity): Identified {
  return {
    id: query.id,
    sql: query.sql,
    statement: query.statement,
    parameters: query.parameters,
    session: query.session,
    takes: query.takes,
    call: query.call,
    mysql: query.mysql,
    relay: query.relay,
    receivedAtMs: query.receivedAtMs,
    group: query.group,
    trace: query.trace,
    allowedSql: query.allowedSql,
    guarded: query.guarded,
    order: query.order,
    slot: query.slot,
    engineSql: query.engineSql,
    maxExecutionMs: query.maxExecutionMs,
    backendIdentity,
  };
}
