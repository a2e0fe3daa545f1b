/**
 * `node relays.mjs http|tcp PORT [DELAY]`: passes bytes on to a port of this machine and does nothing
 * else, which is what a relay in Node can reach. With a delay each piece arrives so many milliseconds
 * later, in both directions. Sends its own port to whoever forked it.
 */
import { Agent, createServer as createHttp, request } from "node:http";
import { connect, createServer as createTcp } from "node:net";

const [kind, target, delay = "0"] = process.argv.slice(2);
const host = "127.0.0.1";
const agent = new Agent({ keepAlive: true });
const delayMs = Number(delay);

const server = kind === "http" ? httpRelay(Number(target)) : tcpRelay(Number(target));
// A client that waits for its turn keeps its connection.
if (kind === "http") server.keepAliveTimeout = 0;
server.listen(0, host, () => process.send?.(server.address().port));

function httpRelay(port) {
  return createHttp((asked, answer) => {
    const { method, url: path, headers } = asked;
    const onward = request({ host, port, method, path, headers, agent }, (came) => {
      answer.writeHead(came.statusCode, came.headers);
      came.pipe(answer);
    });
    asked.pipe(onward);
  });
}

function tcpRelay(port) {
  return createTcp({ noDelay: true }, (client) => {
    const onward = connect({ port, host, noDelay: true });
    pass(client, onward);
    pass(onward, client);
  });
}

function pass(from, to) {
  from.on("error", () => to.destroy());
  if (delayMs === 0) {
    from.pipe(to);
    return;
  }
  from.on("data", (bytes) => setTimeout(() => to.write(bytes), delayMs));
  from.on("end", () => setTimeout(() => to.end(), delayMs));
}
