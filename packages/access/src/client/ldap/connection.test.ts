import { describe, expect, it } from "vitest";
import { anyEgress, egressRefused, type Egress } from "@gateway/core/port/egress.ts";
import { certificateOf } from "@gateway/frontends/listener/rig/certificate.ts";
import { FakeLdap } from "../../../../../test/fake/ldap.ts";
import { DirectoryConnection, type DirectoryPlace } from "./connection.ts";

describe("DirectoryConnection", () => {
  it("looks a name up as the process may, and connects nowhere else", async () => {
    const asked: string[] = [];
    const lookup: Egress["lookup"] = (host, _options, callback) => {
      asked.push(host);
      callback(egressRefused(), "");
    };
    const egress = { ...anyEgress, lookup };
    const opened = opening("ldap://localhost:1", {}, egress);
    await expect(opened).rejects.toMatchObject({ code: "EACCES" });
    expect(asked).toEqual(["localhost"]);
  });

  it.each<readonly [string, readonly (string | false)[]]>([
    ["localhost", ["localhost"]],
    // RFC 6066 §3: an address is no server name.
    ["127.0.0.1", [false]],
  ])(
    "tells a directory at %s the name that its certificate is compared with: %j",
    async (host, told) => {
      const certificate = certificateOf("localhost");
      await using fake = await FakeLdap.start({ entries: [], tls: certificate, ldaps: true });
      const names: (string | false)[] = [];
      fake.onSecured = (name) => void names.push(name);
      const url = `ldaps://${host}:${fake.port}`;
      const connection = await opening(url, { ca: certificate.cert });
      await connection.client.bind("", "");
      connection.destroy();
      expect(names).toEqual(told);
    },
  );

  it("leaves no connection open that the directory does not encrypt", async () => {
    await using fake = await FakeLdap.start({ entries: [] });
    await expect(opening(fake.url, { startTls: true })).rejects.toThrow("StartTLS was refused");
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
  more: Partial<DirectoryPlace> = {},
  egress: Egress = anyEgress,
): Promise<DirectoryConnection> {
  const place = { url, startTls: false, ca: undefined, ...more };
  return DirectoryConnection.open(place, { egress }, new AbortController().signal);
}
