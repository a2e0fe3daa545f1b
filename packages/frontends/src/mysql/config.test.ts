import { describe, expect, it } from "vitest";
import { mysqlConfig } from "./config.ts";

describe("mysqlConfig", () => {
  it("listens on MySQL's port and takes packets as large as MySQL's default", () => {
    expect(mysqlConfig.parse({})).toMatchObject({ port: 3306, maxMessageBytes: 67_108_864 });
  });

  it("refuses a field it does not know", () => {
    expect(mysqlConfig.safeParse({ prot: 1 }).success).toBe(false);
  });
});
