/** Flights by their descriptors: what is told of one, at once or while its client polls, and its schema alone. */
import { Buffer } from "node:buffer";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Asking } from "./asking.ts";
import { sourceOf } from "./catalog/sources.ts";
import { flightInfo, pendingInfo, readyInfo, schemaResult } from "./encode.ts";
import { pollMs } from "./limits.ts";
import * as flight from "./proto/Flight_pb.js";
import { read, readCommand, unsupported, violation, type Command } from "./read/command.ts";
import type { Service } from "./requests.ts";
import { PendingStatement } from "./run/pending.ts";
import type { Source } from "./run/source.ts";
import { statementSource } from "./run/statementSource.ts";
import { admit, plainQuery, preparedQuery } from "./run/statements.ts";
import type { Ticket } from "./run/tickets.ts";
import { fieldOf } from "./value/types.ts";

type Answer = Promise<Result<void, GatewayError>>;

interface Described {
  readonly descriptor: flight.FlightDescriptor;
  readonly way: "info" | "poll";
}

/** What a descriptor leads to, and its query where there is one. */
type Opened = Result<
  { readonly source: Source; readonly queryId: string | undefined },
  GatewayError
>;

/** A result that waits for its client. */
interface Waiting extends Ticket {
  readonly source: Source;
  readonly queryId: string | undefined;
}

/** In place of the id of a query, for what is answered here. */
const localId = "local";
const noBytes = new Uint8Array(0);

export class Flights {
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  /** Answers a descriptor. In a drain nothing new begins. */
  async describe(way: "info" | "poll" | "schema", asking: Asking, draining = false): Answer {
    const message = await asking.next();
    if (!message.ok) return message;
    const descriptor = read(flight.FlightDescriptorSchema, message.value ?? noBytes);
    if (!descriptor.ok) return descriptor;
    if (descriptor.value.type !== flight.FlightDescriptor_DescriptorType.CMD) {
      return err(unsupported("Flights are named by commands of Flight SQL only."));
    }
    const { maxStatementBytes } = this.#service.config;
    const command = readCommand(descriptor.value.cmd, way, maxStatementBytes);
    if (!command.ok) return command;
    if (way === "schema") return this.#schema(command.value, asking);
    if (command.value.name === "TicketStatementQuery") {
      return this.#poll(command.value.message.statementHandle, descriptor.value, asking);
    }
    if (draining) return err(gatewayError("gateway.draining"));
    return this.#info(command.value, { descriptor: descriptor.value, way }, asking);
  }

  async #info(command: Command, { descriptor, way }: Described, asking: Asking): Answer {
    const { tickets } = this.#service;
    const full = tickets.room(asking.user);
    if (full !== undefined) return err(full);
    const opened = await this.#open(command, way, asking);
    if (!opened.ok) return opened;
    const { source, queryId } = opened.value;
    if (asking.call.signal.aborted) {
      source.cancel(gatewayError("query.cancelled"));
      return err(gatewayError("query.cancelled"));
    }
    const owner = { user: asking.user, queryId: queryId ?? localId, home: asking.call.home };
    const parked = { source, queryId, ...tickets.park(source, owner) };
    if (way === "poll") return this.#answerFirst(parked, descriptor, asking);
    await asking.call.send(flightInfo({ descriptor, ...this.#told(parked) }));
    return ok(undefined);
  }

  /** A client that left before it was told what to poll again with can not come back. */
  async #answerFirst(parked: Waiting, descriptor: flight.FlightDescriptor, asking: Asking): Answer {
    const answered = await this.#answerPoll(parked, descriptor, asking);
    if (!asking.call.signal.aborted) return answered;
    parked.source.cancel(gatewayError("query.cancelled"));
    this.#service.tickets.forget(parked.token);
    return answered;
  }

  /** How far the query is that was begun before. */
  async #poll(handle: Uint8Array, descriptor: flight.FlightDescriptor, asking: Asking): Answer {
    const { user, call } = asking;
    const renewed = this.#service.tickets.renew(handle, user, call.home);
    return renewed.ok ? this.#answerPoll(renewed.value, descriptor, asking) : renewed;
  }

  async #answerPoll(
    parked: Waiting,
    descriptor: flight.FlightDescriptor,
    { call }: Asking,
  ): Answer {
    const { source, token } = parked;
    const pending = source instanceof PendingStatement ? source : undefined;
    const polled = await pending?.poll(pollMs);
    if (polled?.ok === false) {
      this.#service.tickets.forget(token);
      return polled;
    }
    const told = this.#told(parked);
    const isReady = pending === undefined || polled?.value !== undefined;
    const answer = isReady
      ? readyInfo({ descriptor, ...told }, pending?.percent)
      : pendingInfo(told, pending.percent);
    await call.send(answer);
    return ok(undefined);
  }

  #told({ source, ticket, leftMs, queryId }: Waiting) {
    const expiresAtMs = Math.round(this.#service.host.clock.unixMs() + leftMs);
    const own = queryId === localId ? undefined : queryId;
    return { fields: source.fields, ticket, expiresAtMs, queryId: own };
  }

  /** What the ticket of a command leads to. A statement runs from here on; unless its client polls, its columns are known. */
  async #open(command: Command, way: "info" | "poll", asking: Asking): Promise<Opened> {
    const { door } = this.#service;
    const local = sourceOf(command, { door, session: asking.session() });
    if (local !== undefined) return ok({ source: local, queryId: undefined });
    const found = await this.#statement(command, asking, "run");
    if (!found.ok) return found;
    const { query, asked, described } = found.value;
    const polled = door.start(query);
    const parts = { polled, transaction: asked.transaction, onChange: asked.onChange };
    if (way === "poll") return ok({ source: new PendingStatement(parts), queryId: query.id });
    const source = await statementSource(parts, asking.call.signal, described);
    return source.ok ? ok({ source: source.value, queryId: query.id }) : source;
  }

  async #schema(command: Command, asking: Asking): Answer {
    const { door } = this.#service;
    const local = sourceOf(command, { door, session: asking.session() });
    if (local !== undefined) {
      await asking.call.send(schemaResult(local.fields));
      return ok(undefined);
    }
    const found = await this.#statement(command, asking, "describe");
    if (!found.ok) return found;
    const described = await door.describe(found.value.query, asking.call.signal);
    if (!described.ok) return described;
    await asking.call.send(schemaResult(described.value.columns.map(fieldOf)));
    return ok(undefined);
  }

  /** The statement that a command means, ready to run or to be described. */
  async #statement(command: Command, asking: Asking, to: "run" | "describe") {
    const service = this.#service;
    if (command.name === "CommandStatementQuery") {
      const { query: sql, transactionId } = command.message;
      const asked = asking.asked(transactionId);
      if (!asked.ok) return asked;
      const refused = await admit(service, sql, asked.value.session, asking.call.signal);
      if (refused !== undefined) return err(refused);
      const query = plainQuery(service, sql, asked.value.session);
      return ok({ query, asked: asked.value, described: undefined });
    }
    if (command.name !== "CommandPreparedStatementQuery") {
      return err(violation(`${command.name} can not be asked this way.`));
    }
    const found = service.prepared.find(command.message.preparedStatementHandle, asking.user);
    if (!found.ok) return found;
    const { sql, transaction, rows, description } = found.value;
    if (rows.length > 1 && to === "run") {
      const message = "A query runs with one row of values; several were bound.";
      return err(gatewayError("query.parameters", { message }));
    }
    const asked = asking.asked(transaction === undefined ? undefined : Buffer.from(transaction));
    if (!asked.ok) return asked;
    const values = to === "describe" ? "none" : (rows[0] ?? []);
    const query = preparedQuery(service, sql, values, asked.value.session);
    if (!query.ok) return query;
    // Values may change the types of a result.
    const isKnown = description.columns.length > 0 && description.parameters.length === 0;
    const described = isKnown ? description.columns : undefined;
    return ok({ query: query.value, asked: asked.value, described });
  }
}
