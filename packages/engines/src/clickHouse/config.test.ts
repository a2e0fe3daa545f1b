import { expect, test } from "vitest";
import { clickHouseConfig } from "./config.ts";

const base = { engine: "clickHouse", endpoint: "http://127.0.0.1:8123" };
const isTaken = (healthCheckQuery: string) =>
  clickHouseConfig.safeParse({ ...base, healthCheckQuery }).success;

test("a health check that names a format would never be understood", () => {
  expect(isTaken("SELECT 1 FORMAT Null")).toBe(false);
  expect(isTaken("select 1\nformat JSON;")).toBe(false);
  expect(isTaken("SELECT 1")).toBe(true);
  expect(isTaken("SELECT count() FROM system.formats")).toBe(true);
});
