/** A balancer of gRPC in the open: each call of a connection goes to the next server, as one that knows HTTP/2 does it. */
import { connect, createServer } from "node:http2";

/**
 * `targets`: ports on loopback, taken in turns. `to` sends what comes from now on to these, beginning with the first;
 * `hold(path)` may answer a promise that a call waits for.
 */
export async function startCallProxy(...targets) {
  const sessions = new Map();
  let ports = targets;
  let taken = 0;
  const proxy = { port: 0, hold: async () => {} };
  const pass = async (request, response) => {
    const port = ports[taken++ % ports.length];
    await proxy.hold(request.url);
    const asked = sessionTo(sessions, port).request({ ...request.headers });
    asked.on("response", (headers) => {
      response.writeHead(headers[":status"], fieldsOf(headers));
    });
    asked.on("trailers", (trailers) => {
      if (!response.headersSent) response.writeHead(200);
      for (const [name, value] of Object.entries(trailers)) response.addTrailers({ [name]: value });
    });
    asked.on("error", () => response.stream.close());
    response.stream.on("close", () => asked.close());
    request.stream.on("error", () => asked.close());
    request.pipe(asked).pipe(response);
  };
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.stream.close());
  });
  await new Promise((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const own = new Set();
  server.on("session", (session) => own.add(session));
  return Object.assign(proxy, {
    port: server.address().port,
    to: (...others) => {
      ports = others;
      taken = 0;
    },
    close: async () => {
      for (const session of [...own, ...sessions.values()]) session.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  });
}

function sessionTo(sessions, port) {
  const found = sessions.get(port);
  if (found !== undefined && !found.destroyed) return found;
  const session = connect(`http://127.0.0.1:${port}`);
  session.on("error", () => sessions.delete(port));
  sessions.set(port, session);
  return session;
}

function fieldsOf(headers) {
  const fields = Object.entries(headers).filter(([name]) => !name.startsWith(":"));
  return Object.fromEntries(fields);
}
