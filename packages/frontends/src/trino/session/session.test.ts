import type { Login } from "@gateway/core/port/authenticator.ts";
import { formEncode } from "@gateway/wire/trino/headers.ts";
import { describe, expect, it } from "vitest";
import { changeHeaders, headerText, sessionFrom } from "./session.ts";
import { alice, sessionOf } from "../rig/trino.ts";

describe("sessionFrom", () => {
  it("takes catalog, schema, zone, properties and tags from their headers", () => {
    const { session } = sessionOf({
      "x-trino-catalog": "tpch",
      "x-trino-schema": " tiny ",
      "x-trino-time-zone": "Europe/Berlin",
      "x-trino-session": "Query_Max_Run_Time=5m,tpch.splits=4",
      "x-trino-client-tags": "team:etl, nightly,k:a:b",
    });
    expect([session.catalog, session.schema, session.dialect]).toEqual(["tpch", "tiny", "trino"]);
    expect([...session.settings]).toEqual([
      ["timezone", "Europe/Berlin"],
      ["query_max_run_time", "5m"],
      ["tpch.splits", "4"],
    ]);
    expect([...session.tags]).toEqual([
      ["team", "etl"],
      ["nightly", ""],
      ["k", "a:b"],
    ]);
  });

  it("prefers the zone that the client has set to the one it runs in", () => {
    const { session } = sessionOf({
      "x-trino-time-zone": "Europe/Berlin",
      "x-trino-session": "time_zone_id=Asia%2FTokyo",
    });
    expect(session.settings.get("timezone")).toBe("Asia/Tokyo");
  });

  it("keeps prepared statements by their exact names", () => {
    const sql = "SELECT 'a,b=c' + ?";
    const { prepared } = sessionOf({
      "x-trino-prepared-statement": `P%201=${formEncode(sql)},q=SELECT+2`,
    });
    expect([...prepared]).toEqual([
      ["P 1", sql],
      ["q", "SELECT 2"],
    ]);
  });

  it("shows instants in the session's time zone, by the names of Java's clients too", () => {
    const zone = (name: string) => sessionOf({ "x-trino-time-zone": name }).style.zone.name;
    expect(["Asia/Tokyo", "UTC+02:00", "GMT-5", "+05:30", "UTC", "Z"].map(zone)).toEqual([
      "Asia/Tokyo",
      "+02:00",
      "-05:00",
      "+05:30",
      "UTC",
      "UTC",
    ]);
  });

  it("runs nothing in a time zone that nobody knows", () => {
    expect(sessionOf({ "x-trino-time-zone": "Nowhere/City" }).refusal).toMatchObject({
      code: "query.unsupported",
      message: "Time zone not supported: Nowhere/City",
    });
  });

  it("refuses a header that can not be read, and says which", () => {
    for (const header of [
      "x-trino-session",
      "x-trino-prepared-statement",
      "x-trino-resource-estimate",
    ]) {
      expect(sessionFrom({ [header]: "nonsense" }, alice, "127.0.0.1")).toMatchObject({
        ok: false,
        error: { code: "protocol.violation", message: `Invalid ${header} header` },
      });
    }
  });

  it("refuses a tag by which the gateway knows its own statements", () => {
    for (const tags of ["gateway/a/b/c", "x, gateway/", "team:etl,gateway/x:y"]) {
      expect(sessionFrom({ "x-trino-client-tags": tags }, alice, "127.0.0.1")).toMatchObject({
        ok: false,
        error: { code: "protocol.violation" },
      });
    }
    const near = sessionOf({ "x-trino-client-tags": "gateway,my-gateway/x,a:gateway/b" });
    expect(near.session.tags.size).toBe(3);
  });

  it("tells a client without transactions from one that is in none", () => {
    expect(sessionOf()).toMatchObject({ transactionId: undefined, knowsTransactions: false });
    const none = sessionOf({ "x-trino-transaction-id": "NONE" });
    expect(none).toMatchObject({ transactionId: undefined, knowsTransactions: true });
    const inside = sessionOf({ "x-trino-transaction-id": "abc" });
    expect(inside).toMatchObject({ transactionId: "abc", knowsTransactions: true });
  });

  it("shows routers the headers but never a credential", () => {
    const { headers } = sessionOf({
      authorization: "Basic YWxpY2U6c2VjcmV0",
      cookie: "a=b",
      "x-trino-extra-credential": "k=secret",
      "x-trino-source": "cli",
      "user-agent": "StatementClientV1/476",
    }).session;
    expect([...headers]).toEqual([
      ["x-trino-source", "cli"],
      ["user-agent", "StatementClientV1/476"],
    ]);
  });

  it("takes the identity from the login and nothing of it from headers", () => {
    const login: Login = {
      identity: { user: "bob", groups: ["g"], roles: [], method: "static" },
      credential: { kind: "none" },
    };
    const session = sessionFrom(
      { "x-trino-user": "alice", "x-trino-original-user": "root", "x-trino-role": "system=ROLE" },
      login,
      "192.0.2.7",
    );
    expect(session.ok && session.value.session.identity).toBe(login.identity);
    expect(session.ok && session.value.session.clientAddress).toBe("192.0.2.7");
  });
});

describe("changeHeaders", () => {
  it("names catalog and schema as they are, and settings encoded", () => {
    expect(changeHeaders({ kind: "catalog", catalog: "c d", schema: "s" })).toEqual([
      ["X-Trino-Set-Catalog", "c d"],
      ["X-Trino-Set-Schema", "s"],
    ]);
    expect(changeHeaders({ kind: "catalog", catalog: undefined, schema: "s" })).toEqual([
      ["X-Trino-Set-Schema", "s"],
    ]);
    expect(changeHeaders({ kind: "setting", name: "a.b", value: "x y" })).toEqual([
      ["X-Trino-Set-Session", "a.b=x+y"],
    ]);
    expect(changeHeaders({ kind: "setting", name: "timezone", value: undefined })).toEqual([
      ["X-Trino-Clear-Session", "time_zone_id"],
    ]);
  });

  it("never puts into a header what HTTP forbids there", () => {
    for (const text of ["a\r\nX-Evil: 1", "schéma", "\u0000", "𝄞"]) {
      expect(headerText(text)).toMatch(/^[\x20-\x7e]*$/);
    }
  });
});
