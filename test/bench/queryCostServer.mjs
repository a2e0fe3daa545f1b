/**
 * Stand-ins of PostgreSQL and MySQL that answer one row to whatever they are asked, in every way in which a statement
 * can be sent, as a process of their own. Answers are encoded once.
 */
import { createServer } from "node:net";

const cells = ["1", "Customer#000000001", "1.37"];

const byLetter = {
  Q: [rowHead(), rowOf(), postgres("C", "SELECT 1\0"), postgres("Z", "I")],
  P: [postgres("1", "")],
  B: [postgres("2", "")],
  E: [rowOf(), postgres("C", "SELECT 1\0")],
  C: [postgres("3", "")],
  S: [postgres("Z", "I")],
};
const postgresAnswers = new Map(
  Object.entries(byLetter).map(([letter, parts]) => [letter.charCodeAt(0), Buffer.concat(parts)]),
);
const describe = 0x44;
const noParameters = postgres("t", "\0\0");
const greeting = Buffer.concat([
  postgres("R", "\0\0\0\0"),
  postgres("S", "server_version\x0015.0\0"),
  postgres("K", "\0\0\0\x01\0\0\0\x01"),
  postgres("Z", "I"),
]);

const ok = packet(1, Buffer.of(0, 0, 0, 2, 0, 0, 0));
const eof = Buffer.of(0xfe, 0, 0, 2, 0);
const textRow = Buffer.concat(cells.map(mysqlText));
const binaryRow = Buffer.concat([Buffer.of(0, 0), ...cells.map(mysqlText)]);
const prepared = Buffer.concat([
  packet(1, Buffer.of(0, 1, 0, 0, 0, cells.length, 0, 0, 0, 0, 0, 0)),
  ...definitions(2),
  packet(2 + cells.length, eof),
]);
const commands = { query: 0x03, prepare: 0x16, execute: 0x17, close: 0x19 };
const mysqlAnswers = new Map([
  [commands.query, result(textRow)],
  [commands.prepare, prepared],
  [commands.execute, result(binaryRow)],
  [commands.close, Buffer.alloc(0)],
]);

process.send?.({ postgres: await listening(servePostgres), mysql: await listening(serveMysql) });

function servePostgres(socket) {
  let rest = Buffer.alloc(0);
  let started = false;
  socket.on("data", (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const answers = [];
    let at = 0;
    while (bytes.length - at >= 5) {
      const head = started ? 1 : 0;
      const size = head + bytes.readInt32BE(at + head);
      if (bytes.length - at < size) break;
      if (!started) answers.push(greeting);
      else if (bytes[at] === describe && bytes[at + 5] === 0x53)
        answers.push(noParameters, rowHead());
      else if (bytes[at] === describe) answers.push(rowHead());
      else answers.push(postgresAnswers.get(bytes[at]) ?? Buffer.alloc(0));
      started = true;
      at += size;
    }
    rest = bytes.subarray(at);
    if (answers.length > 0)
      socket.write(answers.length === 1 ? answers[0] : Buffer.concat(answers));
  });
}

function serveMysql(socket) {
  let loggedIn = false;
  const salt = Buffer.alloc(20, 0x41);
  socket.write(
    packet(
      0,
      Buffer.concat([
        Buffer.from("\x0a8.0.33\0\x01\0\0\0", "latin1"),
        salt.subarray(0, 8),
        Buffer.of(0, 0xdf, 0xf7, 45, 2, 0, 0xff, 0x00, 21),
        Buffer.alloc(10),
        salt.subarray(8),
        Buffer.from("\0mysql_native_password\0"),
      ]),
    ),
  );
  let rest = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const answers = [];
    let at = 0;
    while (bytes.length - at >= 4) {
      const size = 4 + bytes.readUIntLE(at, 3);
      if (bytes.length - at < size) break;
      if (!loggedIn) answers.push(packet(2, Buffer.of(0, 0, 0, 2, 0, 0, 0)));
      else answers.push(answerOf(bytes.subarray(at + 4, at + size)));
      loggedIn = true;
      at += size;
    }
    rest = bytes.subarray(at);
    const answer = answers.length === 1 ? answers[0] : Buffer.concat(answers);
    if (answer.length > 0) socket.write(answer);
  });
}

/** Settings are taken; whatever else a text says is a query. */
function answerOf(command) {
  const isQuery = command[0] === commands.query;
  if (isQuery && !/select/i.test(command.latin1Slice(1))) return ok;
  return mysqlAnswers.get(command[0]) ?? ok;
}

function postgres(letter, body) {
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, Buffer.from(body, "latin1")]);
}

function rowHead() {
  const fields = cells.map((_, index) => {
    const field = Buffer.alloc(18);
    field.writeInt32BE(25, 6);
    field.writeInt16BE(-1, 10);
    field.writeInt32BE(-1, 12);
    return `c${index}\0${field.toString("latin1")}`;
  });
  return postgres("T", `\0${String.fromCharCode(cells.length)}${fields.join("")}`);
}

function rowOf() {
  const parts = cells.map((cell) => `\0\0\0${String.fromCharCode(cell.length)}${cell}`);
  return postgres("D", `\0${String.fromCharCode(cells.length)}${parts.join("")}`);
}

function packet(sequence, payload) {
  const { length } = payload;
  const head = Buffer.of(length & 0xff, (length >> 8) & 0xff, length >> 16, sequence & 0xff);
  return Buffer.concat([head, payload]);
}

function definitions(first) {
  return cells.map((_, index) => {
    const fixed = Buffer.alloc(13);
    fixed[0] = 12;
    fixed.writeUInt16LE(255, 1);
    fixed.writeUInt32LE(255, 3);
    fixed[7] = 253;
    const names = ["def", "", "", "", `c${index}`, ""].map(mysqlText);
    return packet(first + index, Buffer.concat([...names, fixed]));
  });
}

function result(row) {
  const after = 2 + cells.length;
  return Buffer.concat([
    packet(1, Buffer.of(cells.length)),
    ...definitions(2),
    packet(after, eof),
    packet(after + 1, row),
    packet(after + 2, eof),
  ]);
}

function mysqlText(value) {
  return Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
}

function listening(serve) {
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => socket.destroy());
    serve(socket);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(server.address().port));
  });
}
