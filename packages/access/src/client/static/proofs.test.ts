import { hashSync } from "bcryptjs";
import { describe, expect, it } from "vitest";
import type { Thread } from "@gateway/core/port/threads.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { authSchema } from "../config.ts";
import { staticAuthenticator } from "./static.ts";

const at = { frontend: "postgresWire", address: "127.0.0.1" };
const passwordHash = hashSync("secret", 4);
const base64 = (length: number, byte: number) => Buffer.alloc(length, byte).toString("base64");
const scramVerifier = `SCRAM-SHA-256$5000:${base64(16, 1)}$${base64(32, 2)}:${base64(32, 3)}`;

describe("a login by SCRAM", () => {
  it("is asked of who has a verifier by its own cost, and of names of nobody by the same", () => {
    const asked = authenticatorOf({ ann: { passwordHash, scramVerifier } });
    const scram = (user: string) => asked.scram?.(user);
    expect(scram("ann")).toMatchObject({ iterations: 5_000, salt: Buffer.alloc(16, 1) });
    const nobody = scram("nobody");
    expect(nobody?.iterations).toBe(5_000);
    expect(nobody?.salt).toHaveLength(16);
    expect(nobody).toEqual(scram("nobody"));
    expect(nobody?.salt).not.toEqual(scram("another")?.salt);
  });

  it("is asked of nobody where no user has a verifier", () => {
    const asked = authenticatorOf({ ann: { passwordHash } });
    expect([asked.scram?.("ann"), asked.scram?.("nobody")]).toEqual([undefined, undefined]);
  });
});

describe("a login by certificate", () => {
  it.each<readonly [string, string | undefined, readonly string[], string]>([
    ["the only user that it names", undefined, ["host.example", "ann"], "ann"],
    ["the user that it names and the client is", "bob", ["ann", "bob"], "bob"],
    ["one of two that it names, without saying which", undefined, ["ann", "bob"], "auth.refused"],
    ["a user that it does not name", "bob", ["ann"], "auth.refused"],
    ["nobody that is known", undefined, ["eve"], "auth.refused"],
    ["a name of nobody", "eve", ["eve"], "auth.refused"],
  ])("is for %s", async (_what, user, names, expected) => {
    const authenticator = authenticatorOf({ ann: { passwordHash }, bob: { passwordHash } });
    const login = await authenticator.authenticate({ kind: "certificate", user, names }, at);
    expect(login.ok ? login.value.identity.user : login.error.code).toBe(expected);
  });
});

function authenticatorOf(users: object) {
  const parsed = authSchema.parse({ provider: "static", staticUsers: { users } });
  if (parsed.provider !== "static") throw new Error("another provider");
  const config = { required: true, staticUsers: parsed.staticUsers };
  return staticAuthenticator(config, { ...virtualHost(1), threads: { start: idle } });
}

/** Nothing is hashed here. */
function idle(): Thread {
  return {
    post: () => {},
    onMessage: () => {},
    onExit: () => {},
    ref: () => {},
    terminate: async () => {},
  };
}
