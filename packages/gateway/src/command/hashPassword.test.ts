import { createHash, createHmac, pbkdf2Sync } from "node:crypto";
import { PassThrough, Readable } from "node:stream";
import { authSchema } from "@gateway/access/client/config.ts";
import { compare } from "bcryptjs";
import { describe, expect, it } from "vitest";
import { hashPasswordCommand, type HashForm } from "./hashPassword.ts";
import type { Terminal } from "./terminal.ts";

describe("hashPasswordCommand", () => {
  it("prints a hash that the password verifies against and that a config takes", async () => {
    const { code, out, err } = await hashed(Readable.from(["correct horse\n"]));
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const passwordHash = out.trimEnd();
    expect(await compare("correct horse", passwordHash)).toBe(true);
    expect(await compare("correct horse\n", passwordHash)).toBe(false);
    const users = { ann: { passwordHash } };
    expect(authSchema.safeParse({ provider: "static", staticUsers: { users } }).success).toBe(true);
  });

  it("prints on demand a SCRAM verifier, as PostgreSQL writes it, that a config takes", async () => {
    const { code, out } = await hashed(Readable.from(["correct horse\n"]), "scram");
    expect(code).toBe(0);
    const [, iterations = "", salt = "", stored] =
      /^SCRAM-SHA-256\$(\d+):([^$]+)\$([^:]+):\S+\n$/.exec(out) ?? [];
    const bytes = Buffer.from(salt, "base64");
    const salted = pbkdf2Sync("correct horse", bytes, Number(iterations), 32, "sha256");
    const clientKey = createHmac("sha256", salted).update("Client Key").digest();
    expect(createHash("sha256").update(clientKey).digest("base64")).toBe(stored);
    const { out: hash } = await hashed(Readable.from(["correct horse\n"]));
    const users = { ann: { passwordHash: hash.trimEnd(), scramVerifier: out.trimEnd() } };
    expect(authSchema.safeParse({ provider: "static", staticUsers: { users } }).success).toBe(true);
    expect((await hashed(Readable.from(["\n"]), "scram")).code).toBe(1);
  });

  it("puts a password together that arrives in pieces, in the middle of a letter too", async () => {
    const [first, second] = [
      Buffer.from("gr\u00fc\u00dfe").subarray(0, 3),
      Buffer.from("gr\u00fc\u00dfe").subarray(3),
    ];
    const { out } = await hashed(Readable.from([first, second], { objectMode: false }));
    expect(await compare("gr\u00fc\u00dfe", out.trimEnd())).toBe(true);
  });

  it("takes only the line's end off", async () => {
    const { out } = await hashed(Readable.from(["  two lines \r\n"]));
    expect(await compare("  two lines ", out.trimEnd())).toBe(true);
  });

  it.each(["", "\n", "\r\n"])("refuses an empty password (%j)", async (typed) => {
    const { code, out, err } = await hashed(Readable.from([typed]));
    expect({ code, out, err }).toEqual({ code: 1, out: "", err: "the password is empty\n" });
  });

  it("refuses what bcrypt would cut off, counted in bytes", async () => {
    const longest = "\u00fc".repeat(36);
    expect((await hashed(Readable.from([longest]))).code).toBe(0);
    const { code, out, err } = await hashed(Readable.from([`${longest}x`]));
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/longer than 72 bytes/);
  });

  it("ends on input that never ends, without taking it all", async () => {
    let chunks = 0;
    const endless = Readable.from(
      (function* (): Generator<string> {
        for (;;) {
          chunks += 1;
          yield "x".repeat(1_000);
        }
      })(),
    );
    expect((await hashed(endless)).code).toBe(1);
    expect(chunks).toBeLessThan(100);
  });

  it("asks at a terminal and does not show what is typed", async () => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const done = hashed(stdin);
    stdin.write("correct horse\r");
    const { code, out, err } = await done;
    expect(code).toBe(0);
    expect(err).toBe("Password: \n");
    expect(await compare("correct horse", out.trimEnd())).toBe(true);
  });

  it.each([
    ["Ctrl-C", "half a pass\u0003"],
    ["Ctrl-D", "\u0004"],
  ])("ends without a hash on %s", async (_key, typed) => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const done = hashed(stdin);
    stdin.write(typed);
    expect(await done).toEqual({ code: 1, out: "", err: "Password: \nthe password is empty\n" });
  });
});

async function hashed(stdin: Terminal["stdin"], form?: HashForm) {
  const written = { out: "", err: "" };
  const terminal: Terminal = {
    out: (text) => (written.out += text),
    err: (text) => (written.err += text),
    stdin,
    environment: {},
    bundle: new URL("file:///"),
  };
  const code = await hashPasswordCommand(terminal, form);
  return { code, ...written };
}
