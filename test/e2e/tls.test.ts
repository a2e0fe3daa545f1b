/** TLS on every listener with a certificate that the clients really verify. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificateOf } from "@gateway/frontends/listener/rig/certificate.ts";
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clients } from "./clients.ts";
import { configOf, gatewayOf, type TestGateway } from "./gateway.ts";

const certificate = certificateOf("localhost");
let folder: string;
let gateway: TestGateway;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tls-"));
  const tls = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
  writeFileSync(tls.certFile, certificate.cert);
  writeFileSync(tls.keyFile, certificate.key);
  const users = { alice: { passwordHash: hashSync("alice-secret", 6) } };
  gateway = await gatewayOf(
    configOf({ auth: { provider: "static", staticUsers: { users } } }, { tls }),
  );
}, 30_000);

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

describe.each(clients)("a login over TLS through %s", (_name, ask) => {
  const sql = "select max(i) from range(8) t(i)";

  it("takes a right password and refuses a wrong one", async () => {
    const ca = certificate.cert;
    expect(await ask(gateway, { sql, password: "alice-secret", ca })).toBe("7");
    expect(await ask(gateway, { sql, password: "wrong", ca })).toMatch(/^(28P01|1045|401)$/);
  });
});
