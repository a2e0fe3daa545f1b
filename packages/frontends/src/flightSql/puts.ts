/** `DoPut`: updates, values of parameters, and rows for a table. */
import { create, toBinary } from "@bufbuild/protobuf";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type { Parameter } from "@gateway/core/type/type.ts";
import type { ArrowField } from "@gateway/wire/flight/arrowType.ts";
import type { Asking } from "./asking.ts";
import { putResult, updateResult } from "./encode.ts";
import { FlightDataSchema, type FlightData } from "./proto/Flight_pb.js";
import { DoPutPreparedStatementResultSchema } from "./proto/FlightSql_pb.js";
import { read, readCommand, violation, type Command } from "./read/command.ts";
import { readIngest } from "./read/ingest.ts";
import { Readers } from "./readers.ts";
import type { Service } from "./requests.ts";
import type { Prepared } from "./run/prepared.ts";
import { ingestRows } from "./run/ingest.ts";
import { admit, plainQuery, preparedQuery, runToEnd } from "./run/statements.ts";
import {
  parameterFields,
  parameterRows,
  parameterTypes,
  rowReader,
  type ParameterRows,
  type RowReader,
} from "./value/parameters.ts";

type Answer = Promise<Result<void, GatewayError>>;
type Named<Name extends Command["name"]> = Extract<Command, { name: Name }>["message"];

/** Most values that one binding may hold. */
const boundRowsMax = 1_000_000;

export class Puts {
  readonly #service: Service;
  readonly #ingests = new Readers();

  constructor(service: Service) {
    this.#service = service;
  }

  async put(asking: Asking): Answer {
    const first = await nextData(asking);
    if (!first.ok) return first;
    const descriptor = first.value?.flightDescriptor;
    if (first.value === undefined || descriptor === undefined) {
      return err(violation("The first message of data names no command."));
    }
    const { maxStatementBytes } = this.#service.config;
    const command = readCommand(descriptor.cmd, "put", maxStatementBytes);
    if (!command.ok) return command;
    const values = new Values(asking, first.value);
    switch (command.value.name) {
      case "CommandStatementUpdate":
        return this.#update(command.value.message, asking);
      case "CommandStatementIngest":
        return this.#ingest(command.value.message, asking, values);
      case "CommandPreparedStatementUpdate":
        return this.#updatePrepared(command.value.message, asking, values);
      case "CommandPreparedStatementQuery":
        return this.#bind(command.value.message, asking, values);
      default:
        return err(violation(`${command.value.name} can not be asked this way.`));
    }
  }

  async #update(command: Named<"CommandStatementUpdate">, asking: Asking): Answer {
    const { query: sql, transactionId } = command;
    const { signal } = asking.call;
    const asked = asking.asked(transactionId);
    if (!asked.ok) return asked;
    const refused = await admit(this.#service, sql, asked.value.session, signal);
    if (refused !== undefined) return err(refused);
    const query = plainQuery(this.#service, sql, asked.value.session);
    const done = await runToEnd(this.#service, query, signal, asked.value.onChange);
    if (!done.ok) return done;
    await asking.call.send(updateResult(done.value.updateCount));
    return ok(undefined);
  }

  /** Rows for a table. Each holds a message while it goes to the engine, so only some are taken at a time. */
  async #ingest(command: Named<"CommandStatementIngest">, asking: Asking, values: Values): Answer {
    const ingest = readIngest(command);
    if (!ingest.ok) return ingest;
    const asked = asking.asked(command.transactionId);
    if (!asked.ok) return asked;
    const fields = values.schema();
    if (!fields.ok) return fields;
    if (fields.value === undefined) return err(violation("The rows have no columns."));
    const types = parameterTypes(fields.value);
    if (!types.ok) return types;
    const columns = types.value.map((type, at) => ({ name: fields.value?.[at]?.name ?? "", type }));
    const { signal } = asking.call;
    using turn = await this.#ingests.turn(asking.user, signal);
    if (turn === undefined) return err(gatewayError("query.cancelled"));
    const { session, onChange } = asked.value;
    const count = await ingestRows(this.#service, {
      ingest: ingest.value,
      columns,
      batches: values.batches(fields.value),
      session,
      signal,
      onChange,
    });
    if (!count.ok) return count;
    await asking.call.send(updateResult(count.value));
    return ok(undefined);
  }

  /** Once for each row of values. Outside of a transaction each run stands for itself. */
  async #updatePrepared(
    command: Named<"CommandPreparedStatementUpdate">,
    asking: Asking,
    values: Values,
  ): Answer {
    const found = this.#service.prepared.find(command.preparedStatementHandle, asking.user);
    if (!found.ok) return found;
    const prepared = found.value;
    const schema = values.schema();
    if (!schema.ok) return schema;
    let count: number | undefined = 0;
    const runAll = async (rows: ParameterRows): Answer => {
      for (const row of rows) {
        const changed = await this.#runRow(prepared, row, asking);
        if (!changed.ok) return changed;
        count =
          count === undefined || changed.value === undefined ? undefined : count + changed.value;
      }
      return ok(undefined);
    };
    if (schema.value === undefined) {
      const ran = await runAll(prepared.rows.length === 0 ? [[]] : prepared.rows);
      if (!ran.ok) return ran;
    } else {
      for await (const rows of values.rows(schema.value)) {
        const ran = rows.ok ? await runAll(rows.value.rows) : rows;
        if (!ran.ok) return ran;
      }
    }
    await asking.call.send(updateResult(count));
    return ok(undefined);
  }

  async #runRow(
    { sql, transaction }: Prepared,
    row: readonly Parameter[],
    asking: Asking,
  ): Promise<Result<number | undefined, GatewayError>> {
    const asked = asking.asked(transaction === undefined ? undefined : Buffer.from(transaction));
    if (!asked.ok) return asked;
    const query = preparedQuery(this.#service, sql, row, asked.value.session);
    if (!query.ok) return query;
    const { signal } = asking.call;
    const done = await runToEnd(this.#service, query.value, signal, asked.value.onChange);
    return done.ok ? ok(done.value.updateCount) : done;
  }

  async #bind(
    command: Named<"CommandPreparedStatementQuery">,
    asking: Asking,
    values: Values,
  ): Answer {
    const { preparedStatementHandle } = command;
    const found = this.#service.prepared.find(preparedStatementHandle, asking.user);
    if (!found.ok) return found;
    const schema = values.schema();
    if (!schema.ok) return schema;
    const all: (readonly Parameter[])[] = [];
    let bytes = 0;
    if (schema.value !== undefined) {
      for await (const rows of values.rows(schema.value)) {
        if (!rows.ok) return rows;
        bytes += rows.value.bytes;
        if (all.length + rows.value.rows.length > boundRowsMax) return err(tooManyRows);
        for (const row of rows.value.rows) all.push(row);
        const full = this.#service.prepared.bind(found.value, all, bytes);
        if (full !== undefined) return err(full);
      }
    }
    const result = create(DoPutPreparedStatementResultSchema, { preparedStatementHandle });
    await asking.call.send(putResult(toBinary(DoPutPreparedStatementResultSchema, result)));
    return ok(undefined);
  }
}

const tooManyRows = gatewayError("query.parameters", { message: "Too many rows of values." });

interface RowsOfMessage {
  readonly rows: ParameterRows;
  readonly bytes: number;
}

type Each<Value> = AsyncGenerator<Result<Value, GatewayError>, void, void>;

/** The values that follow a command, message by message. */
class Values {
  readonly #asking: Asking;
  readonly #first: FlightData;

  constructor(asking: Asking, first: FlightData) {
    this.#asking = asking;
    this.#first = first;
  }

  /** The columns of the values; undefined when there are none. */
  schema(): Result<readonly ArrowField[] | undefined, GatewayError> {
    const { dataHeader } = this.#first;
    if (dataHeader.length === 0) return ok(undefined);
    const fields = parameterFields(dataHeader);
    // An empty schema is what clients send that have no values.
    return fields.ok && fields.value.length === 0 ? ok(undefined) : fields;
  }

  async *rows(fields: readonly ArrowField[]): Each<RowsOfMessage> {
    for await (const data of this.#messages()) {
      if (!data.ok) return yield data;
      const { dataHeader, dataBody } = data.value;
      const rows = parameterRows(fields, dataHeader, dataBody);
      yield rows.ok ? ok({ rows: rows.value, bytes: dataBody.length }) : rows;
    }
  }

  /** The same rows, not read yet. */
  async *batches(fields: readonly ArrowField[]): Each<RowReader> {
    for await (const data of this.#messages()) {
      yield data.ok ? rowReader(fields, data.value.dataHeader, data.value.dataBody) : data;
    }
  }

  async *#messages(): Each<FlightData> {
    for (;;) {
      const next = await nextData(this.#asking);
      if (!next.ok) return yield next;
      if (next.value === undefined) return;
      if (next.value.dataHeader.length > 0) yield ok(next.value);
    }
  }
}

async function nextData(asking: Asking): Promise<Result<FlightData | undefined, GatewayError>> {
  const message = await asking.next();
  if (!message.ok) return message;
  if (message.value === undefined) return ok(undefined);
  return read(FlightDataSchema, message.value);
}
