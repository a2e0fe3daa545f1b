import { describe, expect, it } from "vitest";
import { invalid, reportedSettings, settings, unsupported, wantsMessage } from "./settings.ts";

describe("settings", () => {
  it("reports what every driver waits for", () => {
    const names = reportedSettings.map(({ name }) => name);
    const expected = [
      "server_version",
      "server_encoding",
      "client_encoding",
      "DateStyle",
      "IntervalStyle",
      "TimeZone",
      "integer_datetimes",
      "standard_conforming_strings",
      "session_authorization",
      "is_superuser",
      "in_hot_standby",
      "application_name",
    ];
    expect(names).toEqual(expect.arrayContaining(expected));
  });

  it("has a version that drivers read as 16", () => {
    const version = settings.get("server_version")?.initial ?? "";
    expect(/^(\d+)\.(\d+)/.exec(version)?.slice(1)).toEqual(["16", "0"]);
    expect(settings.get("server_version_num")?.initial).toBe("160000");
  });

  it.each<[string, string, string | symbol]>([
    ["client_encoding", "utf-8", "UTF8"],
    ["client_encoding", "unicode", "UTF8"],
    ["client_encoding", "SQL_ASCII", "SQL_ASCII"],
    ["client_encoding", "latin1", unsupported],
    ["client_encoding", "SJIS", unsupported],
    ["datestyle", "ISO", "ISO, MDY"],
    ["datestyle", "iso, dmy", "ISO, DMY"],
    ["datestyle", "German", unsupported],
    ["datestyle", "roman", invalid],
    ["timezone", "europe/berlin", "Europe/Berlin"],
    ["timezone", "Mars/Olympus", invalid],
    ["standard_conforming_strings", "off", unsupported],
    ["standard_conforming_strings", "true", "on"],
    ["default_transaction_read_only", "on", unsupported],
    ["transaction_isolation", "REPEATABLE  READ", "repeatable read"],
    ["transaction_isolation", "none", invalid],
    ["bytea_output", "escape", unsupported],
    ["client_min_messages", "WARNING", "warning"],
    ["statement_timeout", "5s", "5s"],
    ["statement_timeout", "3000", "3s"],
    ["statement_timeout", "soon", invalid],
    ["lock_timeout", "1500", "1500ms"],
    ["work_mem", "65536", "64MB"],
    ["work_mem", "much", invalid],
    ["log_min_duration_statement", "-1", "-1"],
  ])("takes %s = %s as %s", (name, value, kept) => {
    expect(settings.get(name)?.accept?.(value)).toBe(kept);
  });

  it("lets nobody change what the server is", () => {
    for (const name of [
      "server_version",
      "is_superuser",
      "session_authorization",
      "integer_datetimes",
    ]) {
      expect(settings.get(name)?.accept).toBeUndefined();
    }
  });
});

describe("wantsMessage", () => {
  it("spares the client what is below its level", () => {
    expect(wantsMessage("notice", "notice")).toBe(true);
    expect(wantsMessage("warning", "notice")).toBe(false);
    expect(wantsMessage("error", "warning")).toBe(false);
    expect(wantsMessage("debug1", "notice")).toBe(true);
  });
});
