/** A worker's side of the worker API at its cheapest: raw HTTP/1.1 over one kept connection, bodies only counted. */
import { connect } from "node:net";

/**
 * Answers `ask(method, path, headers, body)`, which gives `{status, bytes, atMs, parts}` when the last byte is there. A
 * connection that the server closed as idle while the question was on its way is opened anew, as a worker does.
 */
export async function openClient(port, secret) {
  let socket;
  let waiting;
  let answer;
  const take = (chunk) => {
    // A word of the server's own, as to one that was silent for too long: the next question opens another.
    if (waiting === undefined) return socket.destroy();
    answer = answer === undefined ? headOf(chunk) : { ...answer, parts: [...answer.parts, chunk] };
    const bytes = answer.parts.reduce((sum, part) => sum + part.length, 0);
    if (bytes < answer.length) return;
    const done = { ...answer, bytes, atMs: monotonicMs() };
    const { resolve } = waiting;
    answer = undefined;
    waiting = undefined;
    resolve(done);
  };
  const open = async () => {
    socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.on("data", take);
    const own = socket;
    own.on("close", () => {
      if (own === socket) waiting?.reject(new Error("the control plane closed the connection"));
    });
    await new Promise((resolve, reject) => {
      socket.once("connect", resolve).once("error", reject);
    });
    // What breaks it closes it as well.
    socket.on("error", () => {});
  };
  await open();
  const common = `host: bench\r\nauthorization: Bearer ${secret}\r\n`;
  const once = (head, body) =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      socket.write(head);
      if (body !== undefined) socket.write(body);
    });
  return {
    /** Until there is a connection to ask on. */
    opened: async () => {
      if (socket.destroyed || !socket.writable) await open();
    },
    ask: async (method, path, headers = "", body) => {
      const length = body === undefined ? "" : `content-length: ${body.length}\r\n`;
      const head = `${method} ${path} HTTP/1.1\r\n${common}${headers}${length}\r\n`;
      const isKept = !socket.destroyed && socket.writable;
      if (!isKept) await open();
      try {
        return await once(head, body);
      } catch (error) {
        if (!isKept || answer !== undefined) throw error;
        await open();
        return once(head, body);
      }
    },
    close: () => socket.destroy(),
  };
}

/** Heads arrive whole here: they are shorter than a packet on the loopback. */
function headOf(chunk) {
  const end = chunk.indexOf("\r\n\r\n");
  const head = chunk.toString("latin1", 0, end);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  return { status: Number(head.slice(9, 12)), length, parts: [chunk.subarray(end + 4)] };
}

/** Milliseconds on the machine's monotonic clock, the same in every process. */
export function monotonicMs() {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}
