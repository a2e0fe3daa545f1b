/** A server of grpc-js whose every DoGet is one gigabyte in messages of one: what the library reaches without any work. Sends its port to whoever forked it. */
import { Server, ServerCredentials } from "@grpc/grpc-js";

const message = Buffer.alloc(1 << 20, "x");
const messages = 1_000;
const asItIs = (bytes) => bytes;

const server = new Server({ "grpc.max_send_message_length": -1 });
const send = (stream) => {
  let left = messages;
  const more = () => {
    while (left > 0) {
      left -= 1;
      if (!stream.write(message)) return stream.once("drain", more);
    }
    return stream.end();
  };
  more();
};
server.register("/arrow.flight.protocol.FlightService/DoGet", send, asItIs, asItIs, "serverStream");
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  process.send?.(port);
});
