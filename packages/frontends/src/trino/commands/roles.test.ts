import type { Login } from "@gateway/core/port/authenticator.ts";
import { describe, expect, it } from "vitest";
import { rolesRefusal } from "./roles.ts";
import { opened, rowsOf } from "../rig/server.ts";
import { sessionFrom } from "../session/session.ts";
import { numbers, resultOf, sessionOf } from "../rig/trino.ts";

const java = { "user-agent": "StatementClientV1/476" };

describe("rolesRefusal", () => {
  const refusalOf = (role: string, roles: readonly string[]) => {
    const login: Login = {
      identity: { user: "alice", groups: [], roles, method: "static" },
      credential: { kind: "none" },
    };
    const session = sessionFrom({ "x-trino-role": role }, login, "127.0.0.1");
    return session.ok ? rolesRefusal(session.value.session) : session.error;
  };

  it("lets pass the roles of the login, and all or none of them", () => {
    for (const role of ["system=ROLE%7Banalyst%7D", "system=ALL", "hive=NONE"]) {
      expect(refusalOf(role, ["analyst"])).toBeUndefined();
    }
    expect(rolesRefusal(sessionOf().session)).toBeUndefined();
  });

  it("refuses one that the login did not bring, and what can not be read", () => {
    expect(refusalOf("system=ROLE%7Badmin%7D", ["analyst"])).toMatchObject({
      code: "query.permission",
      message: "Access Denied: Cannot set role admin",
    });
    for (const role of ["system=admin", "admin", "=ALL", "system=%zz"]) {
      expect(refusalOf(role, ["admin"])?.code).toBe("protocol.violation");
    }
  });
});

describe("SET ROLE", () => {
  it("takes all roles or none, and refuses one that nobody granted", async () => {
    const server = await opened({ answers: { "SELECT 1": resultOf(numbers, [[1n]]) } });
    const [none] = await server.follow("SET ROLE NONE", java);
    const header = none?.headers.get("x-trino-set-role") ?? "";
    expect(header).toBe("system=NONE");
    const [all] = await server.follow("SET ROLE ALL IN memory", java);
    expect(all?.headers.get("x-trino-set-role")).toBe("memory=ALL");
    const [refused] = await server.follow("SET ROLE admin", java);
    expect(refused?.results.error).toMatchObject({
      errorName: "PERMISSION_DENIED",
      message: "Access Denied: Cannot set role admin",
    });
    expect(rowsOf(await server.follow("SELECT 1", { "x-trino-role": header }))).toEqual([[1]]);
    const held = await server.follow("SELECT 1", { "x-trino-role": "system=ROLE%7Badmin%7D" });
    expect(held.at(-1)?.results.error?.errorName).toBe("PERMISSION_DENIED");
  });

  it("is judged here before a Trino too, which never learns of the choice", async () => {
    const server = await opened({ answers: {}, catalogs: ["hive"], dialect: "trino" });
    const [set] = await server.follow("SET ROLE Admin IN hive", java);
    expect(set?.results.error?.errorName).toBe("PERMISSION_DENIED");
    expect(set?.headers.get("x-trino-set-role")).toBeNull();
  });

  it("lists what the login brought", async () => {
    const server = await opened({ answers: {} });
    for (const sql of ["SHOW ROLES", "SHOW CURRENT ROLES", "SHOW ROLE GRANTS FROM memory"]) {
      const answers = await server.follow(sql, java);
      expect([rowsOf(answers), answers.at(-1)?.results.error]).toEqual([[], undefined]);
    }
  });
});
