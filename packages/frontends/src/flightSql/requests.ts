/** The methods of the Flight service: who asks, what is meant, who answers it. */
import type { Door } from "@gateway/core/port/door.ts";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Presented } from "@gateway/core/port/authenticator.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { create } from "@bufbuild/protobuf";
import type { Carrier } from "../listener/elsewhere.ts";
import { fleetSealer } from "../listener/sealer.ts";
import { Actions } from "./actions.ts";
import { Asking } from "./asking.ts";
import type { Call } from "./calls.ts";
import { handleIn } from "./carry/named.ts";
import { sendOn } from "./carry/send.ts";
import type { FlightConfig } from "./config.ts";
import { bytesOf } from "./encode.ts";
import { statusOf, type FlightStatus } from "./errors.ts";
import { Flights } from "./flights.ts";
import { Instance } from "./instance.ts";
import { logIn } from "./login/login.ts";
import { Tokens } from "./login/tokens.ts";
import { actionTable, methodTable, type MethodName } from "./machine.ts";
import * as flight from "./proto/Flight_pb.js";
import { Puts } from "./puts.ts";
import { read, readCommand, unsupported } from "./read/command.ts";
import { PreparedStatements } from "./run/prepared.ts";
import type { Source } from "./run/source.ts";
import type { StatementContext } from "./run/statements.ts";
import { Tickets } from "./run/tickets.ts";
import { Transactions } from "./session/transactions.ts";

type Answer = Promise<Result<void, GatewayError>>;
/** As another gateway ended the call, where that one answered. */
type Served = Promise<Result<FlightStatus | undefined | void, GatewayError>>;

/** What the parts of the service share. */
export interface Service extends StatementContext {
  readonly prepared: PreparedStatements;
  readonly tickets: Tickets<Source>;
  readonly transactions: Transactions;
}

export class Requests {
  readonly service: Service;
  readonly #sealer;
  readonly #tokens: Tokens;
  readonly #actions: Actions;
  readonly #flights: Flights;
  readonly #puts: Puts;
  readonly #instance: Instance;
  readonly #carrier: Carrier | undefined;
  #draining = false;

  constructor(config: FlightConfig, door: Door, host: Host, carrier: Carrier | undefined) {
    this.#sealer = fleetSealer(host, "flight sql");
    this.#tokens = new Tokens(this.#sealer, host.clock);
    this.#instance = new Instance(host, carrier);
    this.#carrier = carrier;
    const prepared = new PreparedStatements(host, this.#instance);
    const transactions = new Transactions(host, this.#instance);
    const tickets = new Tickets<Source>(host, this.#instance);
    this.service = { door, host, config, prepared, transactions, tickets };
    this.#actions = new Actions(this.service, this.#sealer);
    this.#flights = new Flights(this.service);
    this.#puts = new Puts(this.service);
  }

  /** A client's connection is gone. */
  left(connection: object): void {
    this.service.tickets.left(connection);
  }

  /** From here on only what runs or waits is served. */
  refuseNew(): void {
    this.#draining = true;
  }

  /** Results that nobody has read to their end yet. */
  get waiting(): number {
    return this.service.tickets.count;
  }

  /** Resolves when each result that waits was read or is over, or at the deadline. */
  fetched(deadline: AbortSignal): Promise<void> {
    return this.service.tickets.idle(deadline);
  }

  /** Ends what is left. */
  async close(): Promise<void> {
    this.service.tickets.close(gatewayError("gateway.draining"));
    await this.service.transactions.close();
  }

  /** Answers one call. Never rejects: what goes wrong inside is a bug, logged and answered as one. */
  handle(method: MethodName, call: Call): Promise<void> {
    return this.#finish(call, () => this.#serve(method, call, this.#carrier));
  }

  /** The same for a call that another gateway's client made. What it names is here or nowhere: it goes no further. */
  carried(method: MethodName, call: Call): Promise<void> {
    return this.#finish(call, () => this.#serve(method, call, undefined));
  }

  async #finish(call: Call, serve: () => Served): Promise<void> {
    let answer: Awaited<Served>;
    try {
      answer = await serve();
    } catch (bug) {
      this.service.host.log.bug(bug);
      answer = err(gatewayError("internal.bug"));
    }
    call.end(answer.ok ? (answer.value ?? undefined) : statusOf(answer.error));
  }

  async #serve(method: MethodName, call: Call, carrier: Carrier | undefined): Served {
    if (methodTable[method] !== "serve") return err(unsupported(`${method} is not supported.`));
    if (method === "Handshake") return this.#handshake(call);
    const login = await logIn(this.service.door, call, this.#tokens);
    if (!login.ok) return login;
    const { door, transactions } = this.service;
    const asking = new Asking(call, login.value, { door, transactions, sealer: this.#sealer });
    if (this.#draining && !goesOn.has(method)) {
      return err(gatewayError("gateway.draining"));
    }
    const elsewhere = carrier === undefined ? undefined : await this.#foreign(method, asking);
    if (carrier !== undefined && elsewhere !== undefined) {
      return sendOn(carrier, elsewhere.mark, { method, call, user: asking.user, ...elsewhere });
    }
    switch (method) {
      case "GetFlightInfo":
        return this.#flights.describe("info", asking);
      case "PollFlightInfo":
        return this.#flights.describe("poll", asking, this.#draining);
      case "GetSchema":
        return this.#flights.describe("schema", asking);
      case "DoGet":
        return this.#get(asking);
      case "DoPut":
        return this.#puts.put(asking);
      case "DoAction":
        return this.#actions.act(asking, this.#draining);
      case "ListActions":
        return listActions(call);
      case "ListFlights":
      case "DoExchange":
        return err(unsupported(`${method} is not supported.`));
    }
  }

  /** The mark of the gateway that has what the request names, and the message that names it; undefined where that is this one. */
  async #foreign(method: MethodName, asking: Asking) {
    if (method === "ListActions") return undefined;
    const message = await asking.peek();
    if (!message.ok || message.value === undefined) return undefined;
    const handle = handleIn(method, message.value, this.service.config.maxStatementBytes);
    const mark = this.#instance.foreign(handle);
    return mark === undefined ? undefined : { mark, first: message.value };
  }

  /** The credential stands in the header, or in the first message as older clients send it. */
  async #handshake(call: Call): Answer {
    let shown: Presented | undefined;
    if (call.header("authorization").length === 0) {
      const message = await call.next("");
      if (!message.ok) return message;
      const credential = basicAuth(message.value);
      if (!credential.ok) return credential;
      shown = credential.value;
    }
    const login = await logIn(this.service.door, call, this.#tokens, shown);
    if (!login.ok) return login;
    const response = create(flight.HandshakeResponseSchema, {});
    await call.send(bytesOf(flight.HandshakeResponseSchema, response));
    return ok(undefined);
  }

  async #get(asking: Asking): Answer {
    const message = await asking.next();
    if (!message.ok) return message;
    const ticket = read(flight.TicketSchema, message.value ?? noBytes);
    if (!ticket.ok) return ticket;
    const command = readCommand(ticket.value.ticket, "get", 0);
    if (!command.ok || command.value.name !== "TicketStatementQuery") {
      return err(gatewayError("query.unknown"));
    }
    const { tickets } = this.service;
    const taken = tickets.take(command.value.message.statementHandle, asking.user);
    if (!taken.ok) return taken;
    const { source, token } = taken.value;
    try {
      return await source.send(asking.call);
    } finally {
      tickets.forget(token);
    }
  }
}

/** What is about queries that run already, or may be. */
const goesOn: ReadonlySet<MethodName> = new Set(["DoGet", "DoAction", "PollFlightInfo"]);

const noBytes = new Uint8Array(0);

/** What an older client shows in its first message; nothing when that is empty. */
function basicAuth(message: Uint8Array | undefined): Result<Presented | undefined, GatewayError> {
  const request = read(flight.HandshakeRequestSchema, message ?? noBytes);
  if (!request.ok) return request;
  if (request.value.payload.length === 0) return ok(undefined);
  const auth = read(flight.BasicAuthSchema, request.value.payload);
  if (!auth.ok || auth.value.username === "") return err(gatewayError("auth.refused"));
  const { username: user, password } = auth.value;
  return ok({ kind: "password", user, password: new Secret(password) });
}

async function listActions(call: Call): Answer {
  for (const [type, standing] of Object.entries(actionTable)) {
    if (standing !== "serve") continue;
    const action = create(flight.ActionTypeSchema, { type, description: "" });
    await call.send(bytesOf(flight.ActionTypeSchema, action));
  }
  return ok(undefined);
}
