/** Logins by bytes, for connections that no driver would leave alone: open, logged in, and silent from then on. */
import { connect } from "node:net";

/** Of a socket to `port` from `localAddress`, once it is connected. Its end is nobody's failure. */
export function openSocket(port, localAddress) {
  const socket = connect({ host: "127.0.0.1", port, localAddress });
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.removeListener("error", reject);
      socket.on("error", () => {});
      resolve(socket);
    });
  });
}

/** Resolves at the first piece that `judge` answers true to; rejects when the connection ends before. */
export function told(socket, judge) {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const read = (piece) => {
      bytes = Buffer.concat([bytes, piece]);
      if (!judge(bytes)) return;
      socket.removeListener("data", read);
      socket.removeListener("close", ended);
      resolve(bytes);
    };
    const ended = () =>
      reject(new Error(`closed after ${bytes.length} bytes: ${bytes.toString("latin1")}`));
    socket.on("data", read);
    socket.once("close", ended);
  });
}

export function pgStartup(user = "alice") {
  const body = Buffer.from(`user\0${user}\0\0`, "latin1");
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length, 0);
  head.writeUInt32BE(196_608, 4);
  return Buffer.concat([head, body]);
}

/** A message of PostgreSQL; `length` is the one that it claims. */
export function pgMessage(type, body = "", length = 4 + Buffer.byteLength(body)) {
  const head = Buffer.alloc(5);
  head.write(type, "latin1");
  head.writeUInt32BE(length >>> 0, 1);
  return Buffer.concat([head, Buffer.from(body, "latin1")]);
}

/** Logged in over PostgreSQL's protocol, ready for a query. */
export async function pgIdle(port, localAddress) {
  const socket = await openSocket(port, localAddress);
  socket.write(pgStartup());
  await told(socket, (bytes) => bytes.length >= 6 && bytes.at(-6) === 0x5a);
  return socket;
}

const mysqlCapabilities = 0x0008_8200;

/** Logged in over MySQL's protocol, with an empty answer to whatever method it is asked for. */
export async function mysqlIdle(port, localAddress) {
  const socket = await openSocket(port, localAddress);
  await told(socket, isPacket);
  const body = Buffer.alloc(32);
  body.writeUInt32LE(mysqlCapabilities, 0);
  body.writeUInt32LE(1 << 24, 4);
  body[8] = 45;
  const rest = Buffer.from("alice\0\0mysql_native_password\0", "latin1");
  socket.write(mysqlPacket(Buffer.concat([body, rest]), 1));
  let answer = await told(socket, isPacket);
  if (answer[4] === 0xfe) {
    socket.write(mysqlPacket(Buffer.alloc(0), answer[3] + 1));
    answer = await told(socket, isPacket);
  }
  if (answer[4] !== 0) throw new Error(`MySQL's login is answered: ${answer.toString("latin1")}`);
  return socket;
}

/** `length` is the one that it claims. */
export function mysqlPacket(body, sequence = 0, length = body.length) {
  const head = Buffer.alloc(4);
  head.writeUIntLE(length, 0, 3);
  head[3] = sequence;
  return Buffer.concat([head, body]);
}

function isPacket(bytes) {
  return bytes.length >= 4 && bytes.length >= 4 + bytes.readUIntLE(0, 3);
}
