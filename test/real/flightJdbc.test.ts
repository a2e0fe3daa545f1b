/** Apache Arrow's JDBC driver of Flight SQL, in a Java of its own. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestGateway } from "../e2e/gateway.ts";
import { endlessSql, flightGateway, flightPort, ran } from "./flightClients.ts";

const jar = process.env["GATEWAY_TEST_FLIGHT_JDBC"] ?? "";
const source = fileURLToPath(new URL("cases/flightJdbc.java", import.meta.url));
/** The driver reads memory that Java closes to its own code. */
const opens = "--add-opens=java.base/java.nio=ALL-UNNAMED";

describe("Flight SQL's JDBC driver", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await flightGateway();
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  it("shows types exactly, prepares, updates, lists, and goes on after an error", async () => {
    const url = `jdbc:arrow-flight-sql://127.0.0.1:${flightPort(gateway)}/?useEncryption=false&user=ann&password=x`;
    const args = [opens, "-cp", jar, source, url];
    const { lines, cancelMs } = await ran(gateway, "java", [...args, endlessSql], true);
    expect(lines).toEqual([
      "12345678901234567890.12 2024-02-29 2024-02-29 23:59:59.123456 9223372036854775807 null ä true 1.5 -3 3 x",
      "ddl -1",
      "insert 2",
      "prepared insert 1",
      "from 2 two three",
      "from 3 three",
      'product Query Gateway quote "',
      "catalog memory",
      "schema main",
      "table flight_meta TABLE",
      "type TABLE",
      "type VIEW",
      "column id INTEGER",
      "column label VARCHAR",
      "key id 1",
      "300000 44999850000",
      "true",
      "then 1",
      "cancelled",
    ]);
    expect(cancelMs).toBeLessThan(2_000);
  });
});
