import { noModes } from "@gateway/core/sql/session/statement.ts";
import { describe, expect, it } from "vitest";
import { ClientSession } from "./clientSession.ts";
import { sessionOf } from "@gateway/core/rig/session.ts";
import { pinOf } from "../rig/session.ts";

describe("ClientSession", () => {
  it("keeps a setting in the session value, by its lower-case name", () => {
    const session = new ClientSession(sessionOf());
    expect(session.set("Application_Name", "report")).toEqual({ ok: true, value: undefined });
    expect(session.value.settings.get("application_name")).toBe("report");
  });

  it("goes back to the start-up packet's value on RESET, not to the server's", () => {
    const session = new ClientSession(
      sessionOf({ settings: new Map([["timezone", "Europe/Berlin"]]) }),
    );
    session.set("TimeZone", "UTC");
    expect(session.setting("timezone")).toBe("UTC");
    session.set("TimeZone", undefined);
    expect(session.setting("timezone")).toBe("Europe/Berlin");
    expect(session.zone.name).toBe("Europe/Berlin");
  });

  it("refuses to change what the gateway decides", () => {
    const session = new ClientSession(sessionOf());
    expect(session.set("session_authorization", "root")).toMatchObject({
      ok: false,
      error: { sqlState: "55P02" },
    });
    expect(session.setting("session_authorization")).toBe("ann");
  });

  it("tells a change of a reported setting once, and only a change", () => {
    const session = new ClientSession(sessionOf());
    session.set("TimeZone", "UTC");
    session.set("work_mem", "1GB");
    expect(session.takeChanges()).toEqual([]);
    session.set("TimeZone", "Asia/Tokyo");
    expect(session.takeChanges()).toEqual([{ name: "TimeZone", value: "Asia/Tokyo" }]);
    expect(session.takeChanges()).toEqual([]);
  });

  it.each([
    ["transaction_isolation", "serializable", "read committed"],
    ["transaction_deferrable", "on", "off"],
  ])("has %s of a transaction, and none for a session", (name, value, own) => {
    const session = new ClientSession(sessionOf());
    expect(session.set(name, value).ok).toBe(true);
    expect(session.setting(name)).toBe(own);
    expect(session.set(name, "neither").ok).toBe(false);
    session.apply({ kind: "pinned", pin: pinOf(), modes: noModes });
    session.set(name, value);
    expect(session.setting(name)).toBe(value);
    session.apply({ kind: "unpinned", outcome: "committed" });
    expect(session.setting(name)).toBe(own);
  });

  it("turns gateway.tags into tags and search_path into the schema", () => {
    const session = new ClientSession(sessionOf());
    session.set("gateway.tags", "team:red, nightly");
    expect([...session.value.tags]).toEqual([
      ["team", "red"],
      ["nightly", ""],
    ]);
    session.set("search_path", '"$user", sales, public');
    expect(session.value.schema).toBe("sales");
    session.set("search_path", "public");
    expect(session.value.schema).toBeUndefined();
  });

  it("ends SET LOCAL with the transaction and keeps SET after a commit", () => {
    const session = new ClientSession(sessionOf());
    session.apply({ kind: "pinned", modes: noModes, pin: pinOf() });
    session.set("timezone", "Asia/Tokyo", true);
    session.set("application_name", "x");
    session.apply({ kind: "unpinned", outcome: "committed" });
    expect(session.setting("timezone")).toBe("UTC");
    expect(session.setting("application_name")).toBe("x");
  });

  it("keeps a SET that came after SET LOCAL in the same transaction", () => {
    const session = new ClientSession(sessionOf());
    session.apply({ kind: "pinned", modes: noModes, pin: pinOf() });
    session.set("timezone", "Asia/Tokyo", true);
    session.set("timezone", "Europe/Berlin");
    session.endTransaction(true);
    expect(session.setting("timezone")).toBe("Europe/Berlin");
  });

  it("undoes SET with the transaction that is rolled back", () => {
    const session = new ClientSession(sessionOf());
    session.set("application_name", "before");
    session.apply({ kind: "pinned", modes: noModes, pin: pinOf() });
    session.set("application_name", "inside");
    session.set("my.own", "1");
    session.endTransaction(false);
    expect(session.setting("application_name")).toBe("before");
    expect(session.known("my.own")).toBeUndefined();
  });

  it("shows the modes of the session for a transaction that asked for no others", () => {
    const session = new ClientSession(sessionOf());
    expect(session.setting("transaction_isolation")).toBe("read committed");
    session.set("default_transaction_isolation", "serializable");
    expect(session.setting("transaction_isolation")).toBe("serializable");
    const modes = { ...noModes, isolation: "repeatableRead" } as const;
    session.apply({ kind: "pinned", modes, pin: pinOf() });
    expect(session.setting("transaction_isolation")).toBe("repeatable read");
    session.apply({ kind: "unpinned", outcome: "committed" });
    expect(session.setting("transaction_isolation")).toBe("serializable");
  });

  it("says by its pin whether it is in a transaction", () => {
    const session = new ClientSession(sessionOf());
    const pin = pinOf();
    expect(session.status).toBe("I");
    session.apply({ kind: "pinned", modes: noModes, pin });
    expect(session.status).toBe("T");
    pin.state = "aborted";
    expect(session.status).toBe("E");
    pin.state = "ended";
    expect(session.status).toBe("I");
  });

  it("limits how much a client may leave in it", () => {
    const session = new ClientSession(sessionOf());
    expect(session.set("my.own", "x".repeat(20_000)).ok).toBe(false);
    for (let index = 0; index < 500; index += 1) session.set(`my.n${index}`, "1");
    expect(session.set("my.more", "1")).toMatchObject({ ok: false, error: { sqlState: "54000" } });
    expect(session.set("my.n1", "2").ok).toBe(true);
  });
});
