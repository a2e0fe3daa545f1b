import { describe, expect, it } from "vitest";
import { anyEgress, egressRefused, type Egress } from "@gateway/core/port/egress.ts";
import { FakeLdap } from "../../../../../test/fake/ldap.ts";
import { DirectoryConnection } from "./connection.ts";

describe("DirectoryConnection", () => {
  it("looks a name up as the process may, and connects nowhere else", async () => {
    const asked: string[] = [];
    const lookup: Egress["lookup"] = (host, _options, callback) => {
      asked.push(host);
      callback(egressRefused(), "");
    };
    const egress = { ...anyEgress, lookup };
    const opened = opening("ldap://localhost:1", egress);
    await expect(opened).rejects.toMatchObject({ code: "EACCES" });
    expect(asked).toEqual(["localhost"]);
  });

  it("leaves no connection open that the directory does not encrypt", async () => {
    await using fake = await FakeLdap.start({ entries: [] });
    await expect(opening(fake.url, anyEgress, true)).rejects.toThrow("StartTLS was refused");
    await expect.poll(() => fake.open).toBe(0);
  });

  it("is closed once it ended, and is not opened again by what is asked on it", async () => {
    await using fake = await FakeLdap.start({ entries: [] });
    const connection = await opening(fake.url);
    await connection.client.bind("", "");
    expect(connection.isOpen).toBe(true);
    connection.destroy();
    expect(connection.isOpen).toBe(false);
    await expect.poll(() => fake.open).toBe(0);
    await expect(connection.client.bind("", "")).rejects.toThrow("is gone");
    expect(fake.connections).toBe(1);
  });
});

function opening(
  url: string,
  egress: Egress = anyEgress,
  startTls = false,
): Promise<DirectoryConnection> {
  const place = { url, startTls, ca: undefined };
  return DirectoryConnection.open(place, { egress }, new AbortController().signal);
}
