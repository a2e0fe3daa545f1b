import { describe, expect, it } from "vitest";
import { hostOf } from "@gateway/contract/config/server.ts";
import { defaultPort, mysqlConfig } from "./config.ts";

const auth = { type: "basic", username: "ann", password: { secretRef: "env:ANN" } };
const plain = { engine: "mysql", hosts: ["db.internal"], auth };

describe("mysqlConfig", () => {
  it("takes a host alone, and shares connections by transaction", () => {
    expect(mysqlConfig.parse(plain)).toMatchObject({
      poolMode: "transaction",
      pinning: "allow",
      localFiles: false,
      globalVariables: false,
    });
  });

  it.each([
    ["passthrough without TLS", { ...plain, queryAuth: { type: "passthrough" } }],
    ["a service account without a login", { engine: "mysql", hosts: ["db.internal"] }],
    ["a certificate without its key", { ...plain, tls: { certFile: "/a.pem" } }],
    ["TLS to an address in digits without a name", { ...plain, hosts: ["10.0.0.1"], tls: {} }],
    ["a session that refuses its own state", { ...plain, poolMode: "session", pinning: "refuse" }],
    ["no host", { ...plain, hosts: [] }],
    ["a host that is a URL", { ...plain, hosts: ["mysql://db.internal"] }],
  ])("refuses %s", (_what, config) => {
    expect(mysqlConfig.safeParse(config).success).toBe(false);
  });
});

describe("hostOf", () => {
  it.each([
    ["db.internal", { host: "db.internal", port: 3306 }],
    ["db.internal:3307", { host: "db.internal", port: 3307 }],
    ["[::1]:3307", { host: "::1", port: 3307 }],
    ["db:0", undefined],
    ["db:99999", undefined],
    ["user@db", undefined],
  ])("reads %s", (text, found) => {
    expect(hostOf(text, defaultPort)).toEqual(found);
  });
});
