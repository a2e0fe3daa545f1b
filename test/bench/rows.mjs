/** A million rows of six columns to real drivers and to a reader that only takes bytes. */
import { connect } from "node:net";
import mysql from "mysql2";
import pg from "pg";
import { BasicAuth, Trino } from "trino-client";
import { spread } from "./figures.mjs";
import { pgBinaryQuery, pgQuery, pgStartup, readUntilReady } from "./rawPostgres.mjs";

const count = 1_000_000;
const rounds = 3;
const host = "127.0.0.1";
const sql = `select i as id, 'customer ' || (i % 1000) as name, i * 1.5 as amount,
  cast(i % 100000 as decimal(12,2)) as price, date '2020-01-01' + cast(i % 1000 as int) as day,
  timestamp '2020-01-01 00:00:00' + to_seconds(i) as at from range(${count}) t(i)`;

export async function resultRows(gateway) {
  return [
    await measured("1 M rows × 6 to a raw PostgreSQL reader", gateway, rawPostgres(pgQuery)),
    await measured("… in binary", gateway, rawPostgres(pgBinaryQuery)),
    await measured("1 M rows × 6 to pg", gateway, byPg),
    await measured("1 M rows × 6 to mysql2", gateway, byMysql("query")),
    await measured("… in binary, prepared", gateway, byMysql("execute")),
    await measured("1 M rows × 6 to trino-client", gateway, byTrino),
  ];
}

async function measured(what, gateway, ask) {
  const seconds = [];
  const cpu = [];
  for (let round = 0; round <= rounds; round += 1) {
    const cpuBefore = gateway.cpuSeconds();
    const from = performance.now();
    const rows = await ask(gateway.ports);
    if (rows !== count) throw new Error(`${what}: ${rows} rows`);
    // The first round warms up both sides.
    if (round === 0) continue;
    seconds.push((performance.now() - from) / 1000);
    cpu.push(gateway.cpuSeconds() - cpuBefore);
  }
  return {
    what,
    "rows/s": spread(
      seconds.map((value) => count / value),
      0,
    ),
    "gateway CPU s": spread(cpu, 2),
  };
}

function rawPostgres(queryOf) {
  return async (ports) => {
    const socket = connect(ports.postgresWire, host);
    socket.write(pgStartup("bench"));
    await readUntilReady(socket);
    socket.write(queryOf(sql));
    const { rows } = await readUntilReady(socket);
    socket.destroy();
    return rows;
  };
}

async function byPg(ports) {
  const client = new pg.Client({ host, port: ports.postgresWire, user: "bench" });
  await client.connect();
  const { rows } = await client.query({ text: sql, rowMode: "array" });
  await client.end();
  return rows.length;
}

function byMysql(form) {
  return (ports) => {
    const client = mysql.createConnection({ host, port: ports.mysqlWire, user: "bench" });
    return new Promise((resolve, reject) => {
      let rows = 0;
      client[form]({ sql, rowsAsArray: true })
        .on("result", () => {
          rows += 1;
        })
        .on("error", reject)
        .on("end", () => {
          client.end();
          resolve(rows);
        });
    });
  };
}

async function byTrino(ports) {
  const server = `http://${host}:${ports.trinoHttp}`;
  const client = Trino.create({ server, auth: new BasicAuth("bench") });
  let rows = 0;
  for await (const page of await client.query(sql)) rows += page.data?.length ?? 0;
  return rows;
}
