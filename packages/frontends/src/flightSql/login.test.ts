import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { certificateOf } from "../listener/rig/certificate.ts";
import { answers } from "../rig/answers.ts";
import { openFlight, refusalOf } from "./rig/open.ts";

const passwords = { ann: "a" };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gateway-flight-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a listener with a CA for clients", () => {
  it("takes the name in a certificate, and no client without one", async () => {
    const authority = certificateOf("authority");
    const server = certificateOf("gateway");
    const tls = {
      certFile: written("cert.pem", server.cert),
      keyFile: written("key.pem", server.key),
      clientCaFile: written("ca.pem", authority.cert),
      clientCertUser: "cn",
      minVersion: "1.2",
    } as const;
    await using open = await openFlight({ answers, passwords }, { tls });
    const bare = await open.client({ ca: server.cert });
    expect(await refusalOf(bare.query("SELECT 1"))).toMatch(/^14 UNAVAILABLE/);
    expect(open.door.presented).toEqual([]);

    const client = await open.client({ ca: server.cert, own: certificateOf("ann", authority) });
    // The scripted door knows passwords only.
    expect(await refusalOf(client.query("SELECT 1"))).toMatch(/^16 UNAUTHENTICATED/);
    expect(open.door.presented).toEqual([{ kind: "certificate", user: undefined, names: ["ann"] }]);
  });
});

describe("a credential in the open", () => {
  it("is not looked at where others can reach the listener", async () => {
    await using open = await openFlight({ answers, passwords }, { host: "0.0.0.0" });
    const client = await open.client({ user: "ann", password: "a" });
    expect(await refusalOf(client.query("SELECT 1"))).toMatch(/^16 UNAUTHENTICATED/);
    expect(open.door.presented).toEqual([]);
    expect(open.door.refusals.length).toBe(1);
  });
});

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
