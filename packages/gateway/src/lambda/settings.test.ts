import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { readDatabaseUrl, readSettings, type Surroundings } from "./settings.ts";

describe("readDatabaseUrl", () => {
  it("is the linked secret, else the variable, else a name and no value", () => {
    const linked = readDatabaseUrl(surroundingsOf({}));
    expect(linked.ok && linked.value.reveal()).toBe(url);
    const bare = surroundingsOf({ DatabaseUrl: undefined }, { GATEWAY_DATABASE_URL: url });
    expect(readDatabaseUrl(bare).ok).toBe(true);
    const wrong = readDatabaseUrl(surroundingsOf({ DatabaseUrl: "mysql://hunter2" }));
    expect(wrong.ok || wrong.error).toBe("DatabaseUrl (GATEWAY_DATABASE_URL)");
  });
});

describe("readSettings", () => {
  it("takes linked secrets, the current one of a list first", () => {
    const read = readSettings(surroundingsOf({ EncryptionKeys: `${key}, ${oldKey}` }));
    const settings = read.ok ? read.value : undefined;
    expect(settings?.databaseUrl.reveal()).toBe(url);
    expect(settings?.encryptionKeys.map((secret) => secret.reveal())).toEqual([key, oldKey]);
    expect(settings?.fleetSecrets?.map((secret) => secret.reveal())).toEqual([fleet]);
    expect([settings?.allowedHosts, settings?.logLevel]).toEqual([[], "info"]);
  });

  it("takes variables of the same meaning where nothing is linked", () => {
    const variables = {
      GATEWAY_DATABASE_URL: url,
      GATEWAY_ENCRYPTION_KEYS: key,
      GATEWAY_ALLOWED_HOSTS: "Admin.Example, other.example",
    };
    const read = readSettings(surroundingsOf({}, variables));
    expect(read.ok && read.value.allowedHosts).toEqual(["admin.example", "other.example"]);
  });

  it("has no worker API without a fleet secret", () => {
    const read = readSettings(surroundingsOf({ FleetSecrets: undefined }));
    expect(read.ok && read.value.fleetSecrets).toBe(undefined);
  });

  it("names everything that is missing or wrong, and repeats no value", () => {
    const read = readSettings(
      surroundingsOf(
        { DatabaseUrl: "mysql://hunter2", EncryptionKeys: undefined, FleetSecrets: "short" },
        { GATEWAY_LOG_LEVEL: "loud" },
      ),
    );
    expect(read.ok ? [] : read.error).toEqual([
      "DatabaseUrl (GATEWAY_DATABASE_URL)",
      "EncryptionKeys (GATEWAY_ENCRYPTION_KEYS)",
      "FleetSecrets (GATEWAY_FLEET_SECRETS)",
      "GATEWAY_LOG_LEVEL",
    ]);
  });

  it("refuses a third fleet secret: a rotation has a current and a previous one", () => {
    const read = readSettings(surroundingsOf({ FleetSecrets: [fleet, fleet, fleet].join(",") }));
    expect(read.ok).toBe(false);
  });

  it("speaks in clear text to a stand-in on this machine only", () => {
    const read = (place: string) =>
      readSettings(surroundingsOf({}, { GATEWAY_NEON_STAND_IN: place }));
    expect([read("127.0.0.1:4444").ok, read("db.example:4444").ok]).toEqual([true, false]);
  });

  it("holds secrets that do not print themselves", () => {
    const read = readSettings(surroundingsOf({}));
    const printed = inspect(read, { depth: 9 }) + JSON.stringify(read);
    expect(printed).toContain("[secret]");
    for (const secret of [url, key, fleet]) expect(printed).not.toContain(secret);
  });
});

const url = "postgresql://gateway:hunter2@db.example/gateway";
const key = "k".repeat(32);
const oldKey = "o".repeat(32);
const fleet = "f".repeat(32);

function surroundingsOf(
  links: Readonly<Record<string, string | undefined>>,
  variables: Readonly<Record<string, string>> = {},
): Surroundings {
  const given = "GATEWAY_DATABASE_URL" in variables;
  const all = given
    ? links
    : { DatabaseUrl: url, EncryptionKeys: key, FleetSecrets: fleet, ...links };
  return {
    linked: (name) => {
      const value = Object.entries(all).find(([link]) => link === name)?.[1];
      return value === undefined ? undefined : { value };
    },
    variable: (name) => variables[name],
  };
}
