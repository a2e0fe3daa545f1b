/** `node loginBurst.mjs PORT FIRST COUNT`: as many users log in at once over the PostgreSQL protocol, in a process of its own. Prints the seconds until the last one was in. */
import pg from "pg";

const [port, first, count] = process.argv.slice(2).map(Number);
const from = performance.now();
const logins = Array.from({ length: count }, async (_, n) => {
  const user = `user${first + n}`;
  const client = new pg.Client({ host: "127.0.0.1", port, user, password: "secret" });
  await client.connect();
  await client.end();
});
await Promise.all(logins);
console.log((performance.now() - from) / 1000);
