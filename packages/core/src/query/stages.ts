/**
 * A query with what the next stage of its way added.
 *
 * Every field by its name instead of a spread, which costs as much as the rest of a stage; the types see to it that none
 * is forgotten. A copy is made where several queries may go on from one: on each slot. Otherwise the next stage is filled
 * in, because seven copies were a kilobyte of each query.
 */
import type { Slot } from "./slot.ts";
import type { BackendIdentity } from "./identity.ts";
import type { Admitted, Guarded, Identified, Policed, Query, Routed, Translated } from "./query.ts";

/** A query that is the caller's alone, with what a client of the engine's own protocol sent beside the text. */
export function sentWith(
  query: Query,
  { takes, call, mysql }: Pick<Query, "takes" | "call" | "mysql">,
): Query {
  const filled: Filling<Query> = query;
  filled.takes = takes;
  filled.call = call;
  filled.mysql = mysql;
  return query;
}

/** The same with what a client of ClickHouse sent beside the text. */
export function relayedWith(query: Query, relay: Query["relay"]): Query {
  const filled: Filling<Query> = query;
  filled.relay = relay;
  return query;
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

/** The same group by its configuration's own text, which all that is asked about it compares. */
export function goingTo(query: Routed, group: string): Routed {
  const filled: Filling<Routed> = query;
  filled.group = group;
  return query;
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

/** A query of its own for each slot, with room for what is found out of the engine behind it. */
export function admittedOn(query: Policed, slot: Slot): Admitted {
  const admitted: Omit<Identified, "backendIdentity" | "engineSql"> & Unfilled = {
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
    engineSql: undefined,
    maxExecutionMs: undefined,
    backendIdentity: undefined,
  };
  return admitted;
}

export function translatedTo(
  query: Admitted,
  engineSql: string,
  maxExecutionMs: number | undefined,
): Translated {
  const filled = query as Filling<Translated>;
  filled.engineSql = engineSql;
  filled.maxExecutionMs = maxExecutionMs;
  return filled;
}

export function identifiedAs(query: Translated, backendIdentity: BackendIdentity): Identified {
  const filled = query as Filling<Identified>;
  filled.backendIdentity = backendIdentity;
  return filled;
}

/** What later stages say. */
interface Unfilled {
  readonly engineSql: undefined;
  readonly backendIdentity: undefined;
}

/** What a query was given so far, while the next part is filled in. */
type Filling<Stage> = { -readonly [Field in keyof Stage]: Stage[Field] };
