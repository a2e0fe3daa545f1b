/**
 * A PostgreSQL of no cost for the bench: takes every login, and answers simple queries with rows that were encoded
 * once. `rows N` in a statement asks for at least N rows, `wide rows N` for long ones; anything else is answered with one.
 */
import { createServer } from "node:net";

const cancelCode = 80877102;
const ready = message("Z", Buffer.from("I"));
const done = Buffer.concat([message("C", Buffer.from("SELECT 1\0")), ready]);
const greeting = Buffer.concat([
  message("R", Buffer.alloc(4)),
  message("S", Buffer.from("server_version\x0015.0\0")),
  message("K", Buffer.alloc(8)),
  ready,
]);

/** Listens; answers its port. `rowOf(row)` are the texts of a row, `pieceRows` how many go out at once. */
export function postgresStandIn({ pieces, send }) {
  const { rowOf } = pieces.plain;
  const head = headOf(rowOf(0).length);
  const plain = pieceOf(pieces.plain);
  const wide = pieceOf(pieces.wide);
  const one = Buffer.concat([head, rowMessage(rowOf(0)), done]);
  const answer = (socket, sql) => {
    const wanted = Number(/rows (\d+)/.exec(sql)?.[1] ?? 0);
    if (wanted === 0) return socket.write(one);
    const { bytes, rows } = sql.includes("wide rows") ? wide : plain;
    socket.write(head);
    return send(socket, bytes, Math.ceil(wanted / rows), () => socket.write(done));
  };
  const server = createServer({ noDelay: true }, (socket) => {
    let bytes = Buffer.alloc(0);
    let started = false;
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (;;) {
        const at = started ? 1 : 0;
        if (bytes.length < at + 4) return;
        const size = at + bytes.readInt32BE(at);
        if (bytes.length < size) return;
        const body = bytes.subarray(at + 4, size);
        const letter = started ? bytes[0] : undefined;
        bytes = bytes.subarray(size);
        if (letter === 0x51) answer(socket, body.toString());
        if (started) continue;
        if (body.readInt32BE(0) === cancelCode) return socket.destroy();
        started = true;
        socket.write(greeting);
      }
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(server.address().port));
  });
}

function pieceOf({ rowOf, pieceRows }) {
  const rows = Array.from({ length: pieceRows }, (_, row) => rowMessage(rowOf(row)));
  return { bytes: Buffer.concat(rows), rows: pieceRows };
}

function message(letter, body) {
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** So many columns of text. */
function headOf(columns) {
  const count = Buffer.alloc(2);
  count.writeInt16BE(columns);
  const fields = Array.from({ length: columns }, (_, index) => {
    const field = Buffer.alloc(18);
    field.writeInt32BE(25, 6);
    field.writeInt16BE(-1, 10);
    field.writeInt32BE(-1, 12);
    return Buffer.concat([Buffer.from(`c${index}\0`), field]);
  });
  return message("T", Buffer.concat([count, ...fields]));
}

function rowMessage(cells) {
  const count = Buffer.alloc(2);
  count.writeInt16BE(cells.length);
  const parts = cells.map((cell) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(Buffer.byteLength(cell));
    return Buffer.concat([length, Buffer.from(cell)]);
  });
  return message("D", Buffer.concat([count, ...parts]));
}
