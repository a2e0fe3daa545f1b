/** A whole gateway with a little data, and how the clients of these tests reach it. */
import pg from "pg";
import { configOf, gatewayOf, portOf, type TestGateway } from "../gateway.ts";

export interface PostgresGateway extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly address: { readonly host: string; readonly port: number; readonly user: string };
}

/** `people(id int, name text, born date)` with ids 1 to 1000, on one DuckDB. */
export async function peopleGateway(): Promise<PostgresGateway> {
  const gateway = await gatewayOf(configOf());
  const address = { host: "127.0.0.1", port: portOf(gateway, "postgresWire"), user: "ann" };
  const client = new pg.Client(address);
  await client.connect();
  await client.query("create table people (id int primary key, name text, born date)");
  await client.query(
    "insert into people select i, 'name ' || i, date '2000-01-01' + i::int from range(1, 1001) t(i)",
  );
  await client.end();
  return { gateway, address, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}
