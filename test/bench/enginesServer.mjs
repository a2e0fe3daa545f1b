/**
 * Stand-ins of engines for the bench, as a process of its own: ClickHouse's HTTP interface, MySQL's wire and
 * PostgreSQL's. Answers are encoded once, so that the stand-in is not what is measured.
 *
 * `rows N` in a statement asks for at least N rows, of a hundred bytes, `wide rows N` for as many of 8 KB, of PostgreSQL
 * and MySQL; anything else is answered with one row.
 */
import { createServer as createHttp } from "node:http";
import { createServer as createMysql } from "mysql2";
import { postgresStandIn } from "./postgresStandIn.mjs";

const texts = ["carefully final deposits detect slyly agai", "quickly regular ideas haggle"];
/** Rows of a block of ClickHouse, and of a piece of MySQL rows: packets count in one byte. */
const blockRows = 65_536;
const wideRows = 256;
const wideText = "carefully final deposits ".repeat(320);

const mysqlEof = Buffer.of(0xfe, 0, 0, 2, 0);
/** Autocommit, nothing changed, no warning. */
const mysqlOk = packet(1, Buffer.of(0, 0, 0, 2, 0, 0, 0));

const clickHouse = await clickHousePort();
const starRocks = await mysqlPort();
const postgres = await postgresStandIn({
  pieces: {
    plain: { rowOf: cellsOf, pieceRows: blockRows },
    wide: { rowOf: wideCellsOf, pieceRows: wideRows },
  },
  send,
});
process.send?.({ clickHouse, starRocks, postgres });

function clickHousePort() {
  const block = nativeBlock(blockRows);
  const one = nativeBlock(1);
  const server = createHttp((request, response) => {
    let sql = "";
    request.on("data", (chunk) => {
      sql += chunk;
    });
    request.on("end", () => {
      response.setHeader("X-ClickHouse-Format", "Native");
      const wanted = Number(/rows (\d+)/.exec(sql)?.[1] ?? 0);
      if (wanted === 0) return response.end(one);
      return send(response, block, Math.ceil(wanted / blockRows), () => response.end());
    });
  });
  return listening(server);
}

/** Six columns as ClickHouse writes them. */
function nativeBlock(rows) {
  const parts = [varint(6), varint(rows)];
  const column = (name, type, bytes) =>
    parts.push(text(name), text(type), ...(Array.isArray(bytes) ? bytes : [bytes]));
  const index = Array.from({ length: rows }, (_, row) => row);
  column(
    "id",
    "Int64",
    fixed(rows, 8, (view, at, row) => view.setBigInt64(at, BigInt(row), true)),
  );
  column(
    "name",
    "String",
    index.map((row) => text(`Customer#${String(row).padStart(9, "0")}`)),
  );
  column(
    "price",
    "Decimal(12, 2)",
    fixed(rows, 8, (view, at, row) => view.setBigInt64(at, BigInt(row * 137), true)),
  );
  column(
    "open",
    "Bool",
    fixed(rows, 1, (view, at, row) => view.setUint8(at, row % 2)),
  );
  column(
    "at",
    "DateTime64(6, 'UTC')",
    fixed(rows, 8, (view, at, row) =>
      view.setBigInt64(at, 1_709_210_096_789_000n + BigInt(row), true),
    ),
  );
  column(
    "note",
    "String",
    index.map((row) => text(texts[row % 2])),
  );
  return Buffer.concat(parts);
}

function fixed(rows, width, put) {
  const view = new DataView(new ArrayBuffer(rows * width));
  for (let row = 0; row < rows; row += 1) put(view, row * width, row);
  return Buffer.from(view.buffer);
}

function text(value) {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(bytes.length), bytes]);
}

function varint(value) {
  const bytes = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** Logs everybody in; a result's packets are written as bytes. */
function mysqlPort() {
  const head = mysqlHead();
  const plain = { bytes: mysqlRows(blockRows, head.packets, cellsOf), rows: blockRows };
  const wide = { bytes: mysqlRows(wideRows, head.packets, wideCellsOf), rows: wideRows };
  const row = mysqlRows(1, head.packets, cellsOf);
  const one = Buffer.concat([head.bytes, row, mysqlEnd(head.packets + 1)]);
  const server = createMysql();
  let connections = 0;
  server.on("connection", (client) => {
    connections += 1;
    client.serverHandshake({
      protocolVersion: 10,
      serverVersion: "8.0.33",
      connectionId: connections,
      statusFlags: 2,
      characterSet: 45,
      // Without TLS, compression and an OK in the place of EOF.
      capabilityFlags: 0x00ff_f7df,
      authCallback: (_login, done) => done(null),
    });
    client.on("error", () => client.stream.destroy());
    // Its server side takes SET for the preparation of a statement.
    client.on("stmt_prepare", () => client.stream.write(mysqlOk));
    client.on("query", (sql) => {
      const wanted = Number(/rows (\d+)/.exec(sql)?.[1] ?? 0);
      client.sequenceId = 0;
      if (wanted === 0 && /select/i.test(sql)) return client.stream.write(one);
      if (wanted === 0) return client.stream.write(mysqlOk);
      client.stream.write(head.bytes);
      const end = () => client.stream.write(mysqlEnd(head.packets));
      const piece = sql.includes("wide rows") ? wide : plain;
      return send(client.stream, piece.bytes, Math.ceil(wanted / piece.rows), end);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(server._server.address().port));
  });
}

function packet(sequence, payload) {
  const { length } = payload;
  const header = Buffer.of(length & 0xff, (length >> 8) & 0xff, length >> 16, sequence & 0xff);
  return Buffer.concat([header, payload]);
}

/** Count, definitions and the EOF behind them. */
function mysqlHead() {
  const cell = (value) => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
  // BIGINT, VARCHAR, NEWDECIMAL, TINYINT, DATETIME, VARCHAR.
  const types = [8, 253, 246, 1, 12, 253];
  const definitions = types.map((type, index) => {
    const fixedPart = Buffer.alloc(13);
    fixedPart[0] = 12;
    fixedPart.writeUInt16LE(type === 253 ? 255 : 63, 1);
    fixedPart.writeUInt32LE(type === 246 ? 14 : 255, 3);
    fixedPart[7] = type;
    fixedPart[10] = type === 246 ? 2 : type === 12 ? 6 : 0;
    const names = ["def", "", "", "", `c${index}`, ""].map(cell);
    return packet(2 + index, Buffer.concat([...names, fixedPart]));
  });
  const bytes = [packet(1, Buffer.of(types.length)), ...definitions, packet(8, mysqlEof)];
  return { bytes: Buffer.concat(bytes), packets: 9 };
}

function mysqlEnd(sequence) {
  return packet(sequence, mysqlEof);
}

function mysqlRows(rows, first, rowOf) {
  const packets = [];
  for (let row = 0; row < rows; row += 1) {
    const payload = rowOf(row).map((value) =>
      Buffer.concat([mysqlLength(value), Buffer.from(value)]),
    );
    packets.push(packet(first + row, Buffer.concat(payload)));
  }
  return Buffer.concat(packets);
}

function mysqlLength({ length }) {
  return length < 251 ? Buffer.of(length) : Buffer.of(0xfc, length & 0xff, length >> 8);
}

function wideCellsOf(row) {
  return [...cellsOf(row).slice(0, -1), wideText];
}

/** A row as texts. */
function cellsOf(row) {
  return [
    String(row),
    `Customer#${String(row).padStart(9, "0")}`,
    (row * 1.37).toFixed(2),
    String(row % 2),
    "2024-02-29 12:34:56.789000",
    texts[row % 2],
  ];
}

/** Writes a piece again and again, as fast as it is taken. */
function send(stream, piece, times, end) {
  let left = times;
  const more = () => {
    while (left > 0 && !stream.destroyed) {
      left -= 1;
      if (!stream.write(piece)) {
        stream.once("drain", more);
        return;
      }
    }
    if (!stream.destroyed) end();
  };
  more();
}

function listening(server) {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(server.address().port));
  });
}
