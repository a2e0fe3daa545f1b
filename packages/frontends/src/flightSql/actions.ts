/** `DoAction`: prepared statements, transactions, cancelling, the options of the session. */
import { create, toBinary } from "@bufbuild/protobuf";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Sealer } from "@gateway/core/handle/seal.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { encapsulatedSchema } from "@gateway/wire/flight/arrowWrite.ts";
import type { Asking } from "./asking.ts";
import { actionResult, packed } from "./encode.ts";
import { handleOfInfo } from "./carry/named.ts";
import { commandHeadBytes } from "./limits.ts";
import { isServedAction, type ServedAction } from "./machine.ts";
import * as flight from "./proto/Flight_pb.js";
import * as sql from "./proto/FlightSql_pb.js";
import { nameOf, read, readAny, textTooLarge, unsupported } from "./read/command.ts";
import type { Service } from "./requests.ts";
import { admit, preparedQuery } from "./run/statements.ts";
import { begin, end } from "./run/transaction.ts";
import { SessionActions } from "./session/actions.ts";
import { fieldOf } from "./value/types.ts";

type Answer = Promise<Result<Uint8Array | undefined, GatewayError>>;
type Act = (body: Uint8Array, asking: Asking) => Answer;

/** What begins something new, and so is refused in a drain. */
const begins: ReadonlySet<ServedAction> = new Set(["BeginTransaction", "CreatePreparedStatement"]);

export class Actions {
  readonly #service: Service;
  readonly #table: Readonly<Record<ServedAction, Act>>;

  constructor(service: Service, sealer: Sealer) {
    this.#service = service;
    const session = new SessionActions(sealer);
    this.#table = {
      CreatePreparedStatement: (body, asking) => this.#prepare(body, asking),
      ClosePreparedStatement: async (body, asking) => this.#close(body, asking),
      BeginTransaction: (_body, asking) => this.#begin(asking),
      EndTransaction: (body, asking) => this.#end(body, asking),
      CancelQuery: async (body, asking) => this.#cancelQuery(body, asking),
      CancelFlightInfo: async (body, asking) => this.#cancelFlightInfo(body, asking),
      SetSessionOptions: async (body, asking) => session.set(body, asking),
      GetSessionOptions: async (_body, asking) => session.get(asking),
      CloseSession: async (_body, asking) => session.close(asking),
    };
  }

  async act(asking: Asking, draining: boolean): Promise<Result<void, GatewayError>> {
    const message = await asking.next();
    if (!message.ok) return message;
    const action = read(flight.ActionSchema, message.value ?? new Uint8Array(0));
    if (!action.ok) return action;
    const { type, body } = action.value;
    if (!isServedAction(type)) {
      return err(unsupported(`The action ${nameOf(type)} is not supported.`));
    }
    if (draining && begins.has(type)) return err(gatewayError("gateway.draining"));
    const answer = await this.#table[type](body, asking);
    if (!answer.ok) return answer;
    if (answer.value !== undefined) await asking.call.send(actionResult(answer.value));
    return ok(undefined);
  }

  async #prepare(body: Uint8Array, asking: Asking): Answer {
    const { config, door, prepared } = this.#service;
    if (body.length > config.maxStatementBytes + commandHeadBytes) {
      return err(textTooLarge(config.maxStatementBytes));
    }
    const request = unpack(sql.ActionCreatePreparedStatementRequestSchema, body);
    if (!request.ok) return request;
    const { query: text, transactionId } = request.value;
    const asked = asking.asked(transactionId);
    if (!asked.ok) return asked;
    const { session, transaction } = asked.value;
    const { signal } = asking.call;
    const refused = await admit(this.#service, text, session, signal);
    if (refused !== undefined) return err(refused);
    const query = preparedQuery(this.#service, text, "none", session);
    if (!query.ok) return query;
    const description = await door.describe(query.value, signal);
    if (!description.ok) return description;
    const { columns, parameters } = description.value;
    const statement = { user: asking.user, sql: text, transaction, description: description.value };
    const handle = prepared.add(statement);
    if (!handle.ok) return handle;
    const places = parameters.map((type, index) =>
      fieldOf({
        name: `$${index + 1}`,
        // Clients take no values for a type that holds none.
        type: type.kind === "null" ? { kind: "text" } : type,
        nullable: true,
      }),
    );
    const result = create(sql.ActionCreatePreparedStatementResultSchema, {
      preparedStatementHandle: handle.value,
      datasetSchema: encapsulatedSchema(columns.map(fieldOf)),
      parameterSchema: encapsulatedSchema(places),
    });
    return ok(packed(sql.ActionCreatePreparedStatementResultSchema, result));
  }

  #close(body: Uint8Array, asking: Asking): Result<undefined, GatewayError> {
    const request = unpack(sql.ActionClosePreparedStatementRequestSchema, body);
    if (!request.ok) return request;
    const closed = this.#service.prepared.close(request.value.preparedStatementHandle, asking.user);
    return closed.ok ? ok(undefined) : closed;
  }

  async #begin(asking: Asking): Answer {
    const pin = await begin(this.#service, asking.session(), asking.call.signal);
    if (!pin.ok) return pin;
    const id = this.#service.transactions.begin(pin.value, asking.user);
    const transactionId = Buffer.from(id, "latin1");
    const result = create(sql.ActionBeginTransactionResultSchema, { transactionId });
    return ok(packed(sql.ActionBeginTransactionResultSchema, result));
  }

  async #end(body: Uint8Array, asking: Asking): Answer {
    const request = unpack(sql.ActionEndTransactionRequestSchema, body);
    if (!request.ok) return request;
    const { action, transactionId } = request.value;
    const asked = asking.asked(transactionId);
    if (!asked.ok) return asked;
    const { session, transaction } = asked.value;
    if (transaction === undefined || session.pin === undefined) return err(noTransaction);
    switch (action) {
      case sql.ActionEndTransactionRequest_EndTransaction.COMMIT:
        return this.#run("COMMIT", asked.value, asking);
      case sql.ActionEndTransactionRequest_EndTransaction.ROLLBACK: {
        // Nobody reads these rows any more, and the connection is not free before they are gone.
        if (this.#service.tickets.endIn(transaction) === 0) {
          return this.#run("ROLLBACK", asked.value, asking);
        }
        this.#service.transactions.end(transaction);
        await session.pin.end();
        return ok(undefined);
      }
      default:
        return err(gatewayError("protocol.violation", { message: "No end is named." }));
    }
  }

  #run(text: "COMMIT" | "ROLLBACK", { session, onChange }: Asked, asking: Asking): Answer {
    const { signal } = asking.call;
    return end(this.#service, text, { session, signal, onChange });
  }

  #cancelQuery(body: Uint8Array, asking: Asking): Result<Uint8Array, GatewayError> {
    const request = unpack(sql.ActionCancelQueryRequestSchema, body);
    if (!request.ok) return request;
    const info = read(flight.FlightInfoSchema, request.value.info);
    const cancelled = info.ok ? this.#cancel(info.value, asking) : info;
    if (!cancelled.ok) return cancelled;
    const result = sql.ActionCancelQueryResult_CancelResult.CANCELLED;
    const answer = create(sql.ActionCancelQueryResultSchema, { result });
    return ok(packed(sql.ActionCancelQueryResultSchema, answer));
  }

  #cancelFlightInfo(body: Uint8Array, asking: Asking): Result<Uint8Array, GatewayError> {
    const request = read(flight.CancelFlightInfoRequestSchema, body);
    if (!request.ok) return request;
    const cancelled = this.#cancel(request.value.info, asking);
    if (!cancelled.ok) return cancelled;
    const status = flight.CancelStatus.CANCELLED;
    const answer = create(flight.CancelFlightInfoResultSchema, { status });
    return ok(toBinary(flight.CancelFlightInfoResultSchema, answer));
  }

  #cancel(info: flight.FlightInfo | undefined, asking: Asking): Result<void, GatewayError> {
    return this.#service.tickets.cancel(handleOfInfo(info), asking.user);
  }
}

type Asked = Extract<ReturnType<Asking["asked"]>, { ok: true }>["value"];

const noTransaction = gatewayError("query.transaction", { message: "No transaction is named." });

/** The message in an `Any`, whatever that says it is. */
function unpack<Desc extends Parameters<typeof read>[0]>(schema: Desc, body: Uint8Array) {
  const any = readAny(body);
  return any.ok ? read(schema, any.value.value) : any;
}
