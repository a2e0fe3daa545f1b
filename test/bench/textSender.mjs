/**
 * A process that sends long statements, one after the other, over one wire: `WIRE PORT BYTES`.
 *
 * A line `ready` says that the texts are made. Each line it reads lets one of each shape go out; a line on
 * its output tells of each answer: the shape and the error's code, or `ok`. The last line of them is
 * `round`. It ends with its input.
 */
import { createInterface } from "node:readline";
import mysql from "mysql2/promise";
import pg from "pg";

const [wire, port, bytes] = process.argv.slice(2);
const host = "127.0.0.1";
const user = "alice";

const shapes = [
  ["values", "select count(*) from (values (0,'')", ",(1,'a it''s')", ") t"],
  ["list", "select 1 in (1", ",1", ")"],
  ["comments", "select 1", "\n-- a comment of some words", ""],
  ["string", "select length('", "abcdefgh", "') as n"],
  ["escaped", "select length('", "''", "') as n"],
  ["words", "select 1 a", " b", ""],
  ["sum", "select 1", "+1", ""],
  ["brackets", "select 1 ", "(", ""],
  ["names", 'select "a"', ',"b"', ""],
  ["semicolons", "select 1", ";", ""],
  ["accents", "select 'ä'", "/*ä*/", ""],
].map(([name, head, unit, tail]) => {
  // Accents weigh two bytes each.
  const room = Number(bytes) - 64 - Buffer.byteLength(head + tail);
  return [name, head + unit.repeat(Math.floor(room / Buffer.byteLength(unit))) + tail];
});

const ask = { postgres: askPostgres, mysql: askMysql, trino: askTrino }[wire];
console.log("ready");
for await (const _ of createInterface({ input: process.stdin })) {
  for (const [name, text] of shapes) {
    const code = await ask(text).catch((error) => error.code ?? error.message);
    console.log(`${name} ${code}`);
  }
  console.log("round");
}
process.exit(0);

async function askPostgres(text) {
  const client = new pg.Client({ host, port: Number(port), user });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query(text);
    return "ok";
  } finally {
    client.end().catch(() => undefined);
  }
}

async function askMysql(text) {
  const client = await mysql.createConnection({ host, port: Number(port), user });
  client.on("error", () => undefined);
  try {
    await client.query(text);
    return "ok";
  } finally {
    client.destroy();
  }
}

async function askTrino(text) {
  const headers = { "x-trino-user": user };
  const url = `http://${host}:${port}/v1/statement`;
  const first = await fetch(url, { method: "POST", headers, body: text });
  if (first.status !== 200) return first.status;
  let page = await first.json();
  while (page.nextUri !== undefined) page = await (await fetch(page.nextUri, { headers })).json();
  return page.error?.errorName ?? "ok";
}
