/** A client of Flight SQL that counts bytes and decodes nothing of a result. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { AnySchema, anyPack } from "@bufbuild/protobuf/wkt";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import * as flight from "../../packages/frontends/src/flightSql/proto/Flight_pb.js";
import * as flightSql from "../../packages/frontends/src/flightSql/proto/FlightSql_pb.js";

const service = "/arrow.flight.protocol.FlightService/";
const asItIs = (bytes) => bytes;

export function flightReader(port) {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    "grpc.max_receive_message_length": -1,
  });
  const headers = new Metadata();
  headers.set("authorization", `Basic ${Buffer.from("bench:x").toString("base64")}`);
  const begin = (name, message) =>
    client.makeServerStreamRequest(service + name, asItIs, asItIs, Buffer.from(message), headers);
  const ended = (stream, onMessage) =>
    new Promise((resolve, reject) => {
      stream.on("data", onMessage);
      stream.on("error", reject);
      stream.on("end", resolve);
    });
  const info = async (sql) => {
    let found;
    await ended(begin("GetFlightInfo", descriptorOf(sql)), (message) => {
      found = fromBinary(flight.FlightInfoSchema, message);
    });
    return found;
  };
  return {
    info,
    /** Reads a ticket to its end. */
    get: async (ticket) => {
      let [bytes, messages] = [0, 0];
      const request = toBinary(flight.TicketSchema, create(flight.TicketSchema, { ticket }));
      await ended(begin("DoGet", request), (message) => {
        bytes += message.length;
        messages += 1;
      });
      return { bytes, messages };
    },
    cancel: (found) => {
      const request = create(flight.CancelFlightInfoRequestSchema, { info: found });
      const body = toBinary(flight.CancelFlightInfoRequestSchema, request);
      const action = create(flight.ActionSchema, { type: "CancelFlightInfo", body });
      return ended(begin("DoAction", toBinary(flight.ActionSchema, action)), () => undefined);
    },
    /** Asks, and answers how to leave. */
    leaving: (sql) => {
      const stream = begin("GetFlightInfo", descriptorOf(sql));
      const over = ended(stream, () => undefined).catch(() => undefined);
      return () => {
        stream.cancel();
        return over;
      };
    },
    close: () => client.close(),
  };
}

function descriptorOf(query) {
  const command = create(flightSql.CommandStatementQuerySchema, { query });
  const descriptor = create(flight.FlightDescriptorSchema, {
    type: flight.FlightDescriptor_DescriptorType.CMD,
    cmd: toBinary(AnySchema, anyPack(flightSql.CommandStatementQuerySchema, command)),
  });
  return toBinary(flight.FlightDescriptorSchema, descriptor);
}
