/** pyarrow and ADBC's driver of Flight SQL, in a Python of their own. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestGateway } from "../e2e/gateway.ts";
import { endlessSql, flightGateway, flightPort, ran } from "./flightClients.ts";

const python = process.env["GATEWAY_TEST_PYTHON"] ?? "";
const program = fileURLToPath(new URL("cases/flightPython.py", import.meta.url));

describe("pyarrow and the ADBC driver", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await flightGateway();
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  it("read types exactly, bind, update, list, keep transactions apart, and cancel", async () => {
    const uri = `grpc://127.0.0.1:${flightPort(gateway)}`;
    const { lines, cancelMs } = await ran(gateway, python, [program, uri, endlessSql], true);
    expect(lines).toEqual([
      "token authorization True",
      "info Query Gateway",
      "schema ['int32', 'string', 'decimal128(10, 2)', 'timestamp[us]', 'list<item: int32>', 'decimal256(39, 0)', 'date32[day]', 'struct<a: int32>', 'int32', 'extension<arrow.uuid>']",
      "row 1 ä 1.50 2024-02-29 12:34:56.123456 [1, None] 45 2024-02-29 {'a': 1} None 0190163d-8694-739b-aea5-966c26f8ad91",
      "many 2",
      "bound [(2, 'two'), (3, None)]",
      "objects memory main flight_py ['id', 'label']",
      "table ['id', 'label']",
      "types ['TABLE', 'VIEW']",
      "described int16",
      "prepared int32",
      "error True",
      "ingested [3, 3, 3] 9 12 x 1.50 1970-01-01 00:00:00.000001",
      "ingest refused",
      "ingested many 100000 4999950000",
      "rows 1000000 499999500000",
      "after rollback 3",
      "after commit 4",
      "ingest without a transaction 12",
      "cancelled",
    ]);
    expect(cancelMs).toBeLessThan(2_000);
  });
});
