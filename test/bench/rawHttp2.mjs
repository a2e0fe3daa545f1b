/**
 * A reader of Flight SQL on a bare socket: it speaks just enough HTTP/2 to ask, leaves all windows wide open, and of an
 * answer reads the heads of its frames alone. What it costs beside the server is what the system takes for the bytes.
 */
import { connect } from "node:net";

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const service = "/arrow.flight.protocol.FlightService/";
const kinds = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, window: 8 };
const endStream = 1;
const endHeaders = 4;
const ack = 1;
const windowFirst = 65_535;
const headBytes = 9;

/** `frameBytes`: the largest frame that the server may send. */
export async function rawHttp2(port, { frameBytes = 16_384, window = 2 ** 30 } = {}) {
  const socket = connect({
    port,
    host: "127.0.0.1",
    onread: { buffer: Buffer.alloc(1 << 20), callback: (count, buffer) => read(buffer, count) },
  });
  await new Promise((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  socket.setNoDelay(true);
  const head = Buffer.alloc(headBytes);
  let held = 0;
  /** Of the frame at hand. */
  let [left, kind, flags] = [0, 0, 0];
  let body = [];
  /** Bytes that the windows do not hold any more. */
  let [owed, owedCall] = [0, 0];
  let last = -1;
  /** The call at hand. */
  let call;
  socket.on("close", () => call?.reject(new Error("the server hung up")));
  socket.write(
    Buffer.concat([
      preface,
      frame(kinds.settings, 0, 0, settings({ 4: window, 5: frameBytes })),
      frame(kinds.window, 0, 0, word(window - windowFirst)),
    ]),
  );

  function read(buffer, count) {
    let at = 0;
    while (at < count) {
      if (left === 0) {
        const more = Math.min(headBytes - held, count - at);
        buffer.copy(head, held, at, at + more);
        held += more;
        at += more;
        if (held < headBytes) break;
        held = 0;
        [left, kind, flags] = [head.readUIntBE(0, 3), head[3], head[4]];
        if (left > 0) continue;
      } else {
        const more = Math.min(left, count - at);
        if (kind === kinds.data) took(buffer, at, more);
        else body.push(Buffer.from(buffer.subarray(at, at + more)));
        left -= more;
        at += more;
      }
      if (left === 0) over();
    }
    return true;
  }

  function took(buffer, at, count) {
    call.bytes += count;
    if (call.keeps) call.chunks.push(Buffer.from(buffer.subarray(at, at + count)));
    owed += count;
    owedCall += count;
    if (owed < window / 2) return;
    socket.write(frame(kinds.window, 0, 0, word(owed)));
    socket.write(frame(kinds.window, 0, call.id, word(owedCall)));
    [owed, owedCall] = [0, 0];
  }

  function over() {
    const bytes = Buffer.concat(body);
    body = [];
    if (kind === kinds.settings && (flags & ack) === 0) {
      socket.write(frame(kinds.settings, ack, 0, Buffer.alloc(0)));
    }
    if (kind === kinds.ping && (flags & ack) === 0) socket.write(frame(kinds.ping, ack, 0, bytes));
    if (kind === kinds.data) call.frames += 1;
    if (kind === kinds.reset || kind === kinds.goAway)
      call.reject(new Error(`the server refused: ${kind} ${bytes.toString("hex")}`));
    if ((kind === kinds.headers || kind === kinds.data) && (flags & endStream) !== 0)
      call.resolve(call);
  }

  return {
    /** Calls a method with one message; `keeps`: the bytes of the answer are wanted as well. */
    call: (name, message, headers = {}, keeps = false) => {
      last += 2;
      const id = last;
      const prefix = Buffer.alloc(5);
      prefix.writeUInt32BE(message.length, 1);
      const fields = headerBlock({
        ":method": "POST",
        ":scheme": "http",
        ":path": service + name,
        ":authority": "127.0.0.1",
        "content-type": "application/grpc",
        te: "trailers",
        ...headers,
      });
      return new Promise((resolve, reject) => {
        owedCall = 0;
        call = { id, resolve, reject, keeps, bytes: 0, frames: 0, chunks: [] };
        socket.write(
          Buffer.concat([
            frame(kinds.headers, endHeaders, id, fields),
            frame(kinds.data, endStream, id, Buffer.concat([prefix, message])),
          ]),
        );
      });
    },
    close: () => socket.destroy(),
  };
}

function frame(kind, flags, stream, body) {
  const head = Buffer.alloc(headBytes);
  head.writeUIntBE(body.length, 0, 3);
  head[3] = kind;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

function settings(values) {
  return Buffer.concat(
    Object.entries(values).map(([key, value]) => {
      const one = Buffer.alloc(6);
      one.writeUInt16BE(Number(key), 0);
      one.writeUInt32BE(value, 2);
      return one;
    }),
  );
}

function word(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value, 0);
  return bytes;
}

/** Literals without an index and without Huffman's code. */
function headerBlock(fields) {
  return Buffer.concat(
    Object.entries(fields).flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]),
  );
}

function text(value) {
  const bytes = Buffer.from(value);
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes]);
  const head = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) head.push((rest % 128) | 128);
  return Buffer.concat([Buffer.from([...head, rest]), bytes]);
}
