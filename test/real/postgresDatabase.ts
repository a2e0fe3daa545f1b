/** An empty database on the server of the test run; `GATEWAY_TEST_POSTGRES` is the server's address. */
import { Client } from "pg";

/** Makes the database anew and answers its address. */
export async function emptyDatabase(name: string): Promise<URL> {
  const server = process.env["GATEWAY_TEST_POSTGRES"];
  if (server === undefined) throw new Error("run by npm run test:real, which starts a server");
  const client = new Client({ connectionString: server });
  await client.connect();
  await client.query(`drop database if exists ${name} with (force)`);
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url;
}
