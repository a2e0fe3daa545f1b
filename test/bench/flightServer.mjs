/**
 * What can be reached without any work: servers of grpc-js, of node:http2 and of bare sockets that send the same
 * megabyte again and again, as many as their argument says. Sends its ports to whoever forked it.
 */
import { createServer as createHttp2 } from "node:http2";
import { createServer } from "node:net";
import { Server, ServerCredentials } from "@grpc/grpc-js";

const message = Buffer.alloc(1 << 20, "x");
const messages = Number(process.argv[2] ?? 1_000);
const asItIs = (bytes) => bytes;

const send = (stream) => {
  stream.on("error", () => undefined);
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

const grpc = new Server({ "grpc.max_send_message_length": -1 });
grpc.register("/arrow.flight.protocol.FlightService/DoGet", send, asItIs, asItIs, "serverStream");
const http2 = createHttp2();
http2.on("stream", (stream) => {
  stream.respond({ ":status": 200, "content-type": "application/grpc" });
  send(stream);
});
const sockets = createServer((socket) => socket.once("data", () => send(socket)));

const portOf = (server) =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(server.address().port));
  });
const grpcPort = new Promise((resolve, reject) => {
  grpc.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
    error ? reject(error) : resolve(port),
  );
});
process.send?.({
  grpc: await grpcPort,
  http2: await portOf(http2),
  sockets: await portOf(sockets),
});
