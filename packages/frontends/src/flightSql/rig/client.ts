/**
 * A Flight SQL client for tests: `grpc-js` carries, `apache-arrow` decodes.
 *
 * The npm client of Flight SQL can neither update nor trust a certificate nor leave, and knows no ticket; what it can
 * do is tested with it in flightSqlLancedb.test.ts.
 */
import { Buffer } from "node:buffer";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type MessageShape,
} from "@bufbuild/protobuf";
import { AnySchema, anyPack } from "@bufbuild/protobuf/wkt";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { tableFromIPC, type Table } from "apache-arrow";
import * as flight from "../proto/Flight_pb.js";
import * as sql from "../proto/FlightSql_pb.js";

const service = "/arrow.flight.protocol.FlightService/";
const asItIs = (bytes: Buffer): Buffer => bytes;

export interface FlightLogin {
  readonly user?: string;
  readonly password?: string;
  readonly ca?: string;
  /** PEM of the client's own certificate and key. */
  readonly own?: { readonly cert: string; readonly key: string };
}

/** What came back of a call. */
export interface CallAnswer {
  readonly messages: readonly Buffer[];
  readonly headers: Metadata;
}

/** Rows and the schema of a result. */
export interface FlightResult {
  readonly table: Table;
  readonly data: readonly flight.FlightData[];
}

export class FlightClient {
  readonly headers = new Map<string, string>();
  readonly #client: Client;
  readonly #leave: () => void;

  constructor(client: Client, leave: () => void) {
    this.#client = client;
    this.#leave = leave;
  }

  /** Connects through a relay of its own, so that it can be cut off without a word. */
  static async connect(port: number, login: FlightLogin = {}): Promise<FlightClient> {
    const relay = await relayTo(port);
    const options = {
      "grpc.ssl_target_name_override": "localhost",
      "grpc.max_receive_message_length": -1,
      "grpc.enable_retries": 0,
      "grpc.use_local_subchannel_pool": 1,
    };
    const { ca, own } = login;
    const bytes = (pem: string | undefined) => (pem === undefined ? null : Buffer.from(pem));
    const secure =
      ca === undefined
        ? credentials.createInsecure()
        : credentials.createSsl(Buffer.from(ca), bytes(own?.key), bytes(own?.cert));
    const client = new Client(`127.0.0.1:${relay.port}`, secure, options);
    const made = new FlightClient(client, () => {
      relay.close();
      client.close();
    });
    if (login.user !== undefined) {
      const shown = Buffer.from(`${login.user}:${login.password ?? ""}`).toString("base64");
      made.headers.set("authorization", `Basic ${shown}`);
    }
    return made;
  }

  /** Cuts off its connection. */
  destroy(): void {
    this.#leave();
  }

  /** Sends messages and takes everything that comes; `onMessage` may stop the reading. */
  call(
    method: string,
    messages: readonly Uint8Array[],
    onMessage?: (message: Buffer, cancel: () => void) => void | Promise<void>,
  ): Promise<CallAnswer> {
    const metadata = new Metadata();
    for (const [name, value] of this.headers) metadata.set(name, value);
    const stream = this.#client.makeBidiStreamRequest(service + method, asItIs, asItIs, metadata);
    return new Promise((resolve, reject) => {
      const came: Buffer[] = [];
      let headers = new Metadata();
      stream.on("metadata", (found: Metadata) => {
        headers = found;
      });
      stream.on("data", (message: Buffer) => {
        came.push(message);
        const pause = onMessage?.(message, () => stream.cancel());
        if (pause === undefined) return;
        stream.pause();
        void pause.then(() => stream.resume());
      });
      stream.on("error", (error: ServiceError) => reject(error));
      stream.on("end", () => resolve({ messages: came, headers }));
      for (const message of messages) stream.write(Buffer.from(message));
      stream.end();
    });
  }

  /** Takes the token of a login in place of the password. */
  async handshake(): Promise<string> {
    const { headers } = await this.call("Handshake", [
      toBinary(flight.HandshakeRequestSchema, create(flight.HandshakeRequestSchema, {})),
    ]);
    const [token = ""] = headers.get("authorization").map(String);
    this.headers.set("authorization", token);
    return token;
  }

  async info<Desc extends DescMessage>(
    schema: Desc,
    message: MessageShape<Desc>,
  ): Promise<flight.FlightInfo> {
    const { messages } = await this.call("GetFlightInfo", [descriptorOf(schema, message)]);
    return fromBinary(flight.FlightInfoSchema, messages[0] ?? new Uint8Array(0));
  }

  /** Asks once how far a flight is. */
  async poll(descriptor: Uint8Array): Promise<flight.PollInfo> {
    const { messages } = await this.call("PollFlightInfo", [descriptor]);
    return fromBinary(flight.PollInfoSchema, messages[0] ?? new Uint8Array(0));
  }

  queryInfo(text: string, transactionId?: Uint8Array): Promise<flight.FlightInfo> {
    const command = create(sql.CommandStatementQuerySchema, {
      query: text,
      ...(transactionId === undefined ? {} : { transactionId }),
    });
    return this.info(sql.CommandStatementQuerySchema, command);
  }

  async get(ticket: Uint8Array | undefined): Promise<FlightResult> {
    const request = create(flight.TicketSchema, { ticket: ticket ?? new Uint8Array(0) });
    const { messages } = await this.call("DoGet", [toBinary(flight.TicketSchema, request)]);
    const data = messages.map((message) => fromBinary(flight.FlightDataSchema, message));
    return { table: tableFromIPC(streamOf(data)), data };
  }

  async query(text: string, transactionId?: Uint8Array): Promise<FlightResult> {
    return this.get(ticketOf(await this.queryInfo(text, transactionId)));
  }

  async command<Desc extends DescMessage>(
    schema: Desc,
    message: MessageShape<Desc>,
  ): Promise<FlightResult> {
    return this.get(ticketOf(await this.info(schema, message)));
  }

  async put<Desc extends DescMessage>(
    schema: Desc,
    message: MessageShape<Desc>,
    data: readonly flight.FlightData[] = [],
  ): Promise<readonly Buffer[]> {
    const [first = create(flight.FlightDataSchema, {}), ...rest] = data;
    first.flightDescriptor = fromBinary(
      flight.FlightDescriptorSchema,
      descriptorOf(schema, message),
    );
    const all = [first, ...rest].map((one) => toBinary(flight.FlightDataSchema, one));
    const { messages } = await this.call("DoPut", all);
    return messages.map((one) => Buffer.from(fromBinary(flight.PutResultSchema, one).appMetadata));
  }

  async update(text: string, transactionId?: Uint8Array): Promise<bigint> {
    const command = create(sql.CommandStatementUpdateSchema, {
      query: text,
      ...(transactionId === undefined ? {} : { transactionId }),
    });
    const [answer] = await this.put(sql.CommandStatementUpdateSchema, command);
    return fromBinary(sql.DoPutUpdateResultSchema, answer ?? new Uint8Array(0)).recordCount;
  }

  async action(type: string, body: Uint8Array): Promise<readonly Uint8Array[]> {
    const request = create(flight.ActionSchema, { type, body });
    const { messages } = await this.call("DoAction", [toBinary(flight.ActionSchema, request)]);
    return messages.map((message) => fromBinary(flight.ResultSchema, message).body);
  }

  /** An action whose messages travel in `Any`. */
  async ask<Asked extends DescMessage, Answer extends DescMessage>(
    type: string,
    [schema, message]: readonly [Asked, MessageShape<Asked>],
    answer: Answer,
  ): Promise<MessageShape<Answer>> {
    const [body] = await this.action(type, toBinary(AnySchema, anyPack(schema, message)));
    const value = body === undefined ? new Uint8Array(0) : fromBinary(AnySchema, body).value;
    return fromBinary(answer, value);
  }
}

/** The ticket of the one endpoint. */
export function ticketOf(info: flight.FlightInfo): Uint8Array | undefined {
  return info.endpoint[0]?.ticket?.ticket;
}

export function descriptorOf<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): Uint8Array {
  const descriptor = create(flight.FlightDescriptorSchema, {
    type: flight.FlightDescriptor_DescriptorType.CMD,
    cmd: toBinary(AnySchema, anyPack(schema, message)),
  });
  return toBinary(flight.FlightDescriptorSchema, descriptor);
}

/** The descriptor of a statement. */
export function statementOf(query: string): Uint8Array {
  const command = create(sql.CommandStatementQuerySchema, { query });
  return descriptorOf(sql.CommandStatementQuerySchema, command);
}

/** The descriptor to poll again with; of a flight that can be read there is none. */
export function againOf({ flightDescriptor }: flight.PollInfo): Uint8Array {
  if (flightDescriptor === undefined) throw new Error("there is nothing to poll again");
  return toBinary(flight.FlightDescriptorSchema, flightDescriptor);
}

/** The messages of a result as an IPC stream. */
function streamOf(data: readonly flight.FlightData[]): Uint8Array {
  const parts = data.flatMap(({ dataHeader, dataBody }) => {
    const prefix = Buffer.alloc(8);
    prefix.writeUInt32LE(0xffff_ffff, 0);
    prefix.writeInt32LE(dataHeader.length, 4);
    return [prefix, dataHeader, dataBody];
  });
  return Buffer.concat(parts);
}

/** Relays to a port until it is closed. */
async function relayTo(port: number): Promise<{ readonly port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => undefined);
    }
    near.pipe(far);
    far.pipe(near);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
