import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { rootSchema } from "../config/schema.ts";
import { driverFaults } from "./drivers.ts";

const folder = mkdtempSync(join(tmpdir(), "drivers-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("driverFaults", () => {
  it("names each driver that is said to be there and is not", async () => {
    writeFileSync(join(folder, "libadbc_driver_sqlite.so"), "");
    const faultsOf = (drivers: readonly string[]) =>
      driverFaults(rootSchema.parse({ gateway: { adbc: { drivers } } }).gateway, [folder]);
    expect(await faultsOf(["sqlite", "duckdb"])).toEqual([]);
    expect(await faultsOf(["sqlite", "snowflake"])).toEqual([
      {
        part: "gateway.adbc.drivers[1]",
        reason: expect.stringContaining("no library of the driver snowflake; looked into"),
      },
    ]);
    expect(await driverFaults(rootSchema.parse({ gateway: {} }).gateway, [])).toEqual([]);
  });
});
