/**
 * An HTTP proxy in front of a control plane that may hold, damage, repeat or replace what passes. Without
 * a rule it hands everything on as it is.
 */
import { createServer, request } from "node:http";

/**
 * `rules.answer(request, answer)` may give another answer, `"drop"` to break the connection after the
 * control plane did its work, or a promise of either; `rules.repeat(request)` asks twice. Snapshots come whole, unless
 * `rules.splices` lets differences pass.
 */
export async function startRelay(port, rules = {}) {
  const relay = { rules, url: "", close: undefined };
  const server = createServer((incoming, outgoing) => {
    void pass(relay, port, incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  relay.url = `http://127.0.0.1:${server.address().port}`;
  relay.close = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return relay;
}

async function pass(relay, port, incoming, outgoing) {
  const pieces = [];
  for await (const piece of incoming) pieces.push(piece);
  const asked = {
    method: incoming.method,
    path: incoming.url,
    headers: headersOf(incoming, relay.rules),
    body: Buffer.concat(pieces),
  };
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  let answer = await forwarded(port, asked, gone.signal);
  if (relay.rules.repeat?.(asked)) answer = await forwarded(port, asked, gone.signal);
  const changed = (await relay.rules.answer?.(asked, answer)) ?? answer;
  if (changed === "drop") {
    incoming.socket.resetAndDestroy();
    return;
  }
  const { status, headers, body, cutAt } = changed;
  outgoing.writeHead(status, { ...headers, "content-length": changed.length ?? body.length });
  if (cutAt === undefined) outgoing.end(body);
  else outgoing.write(body.subarray(0, cutAt), () => incoming.socket.resetAndDestroy());
}

function headersOf({ headers }, { splices = false }) {
  const { "a-im": manipulations, ...others } = headers;
  return splices && manipulations !== undefined ? headers : others;
}

function forwarded(port, { method, path, headers, body }, signal) {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port, method, path, headers, signal, agent: false },
      (response) => {
        const pieces = [];
        response.on("data", (piece) => pieces.push(piece));
        response.once("error", reject);
        response.once("end", () => {
          const {
            "content-length": _length,
            "transfer-encoding": _coding,
            connection: _connection,
            ...kept
          } = response.headers;
          resolve({ status: response.statusCode, headers: kept, body: Buffer.concat(pieces) });
        });
      },
    );
    sent.once("error", reject);
    sent.end(body);
  });
}
