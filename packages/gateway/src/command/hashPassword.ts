/** `gateway hash-password`: reads a password from the terminal (not echoed) or from standard input and prints its bcrypt hash. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { newHash, type HashRefusal } from "@gateway/access/client/static/newHash.ts";
import { exitCode, type Terminal } from "./terminal.ts";

const inputCharsMax = 4_096;

export async function hashPasswordCommand(terminal: Terminal): Promise<number> {
  const password =
    terminal.stdin.isTTY === true ? await typed(terminal) : await piped(terminal.stdin);
  const made = await newHash(password);
  if (!made.ok) {
    terminal.err(`${reasons[made.error]}\n`);
    return exitCode.config;
  }
  terminal.out(`${made.value}\n`);
  return exitCode.clean;
}

const reasons: Record<HashRefusal, string> = {
  empty: "the password is empty",
  tooLong: "the password is longer than 72 bytes, which is all that bcrypt looks at",
};

async function typed(terminal: Terminal): Promise<string> {
  terminal.err("Password: ");
  // A muted output keeps the line editor from echoing what is typed.
  const muted = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: terminal.stdin, output: muted, terminal: true });
  try {
    return await reader.question("");
  } catch (error) {
    // Ctrl-C and Ctrl-D: nothing was given, so there is nothing to hash.
    if (error instanceof Error && error.name === "AbortError") return "";
    throw error;
  } finally {
    reader.close();
    terminal.err("\n");
  }
}

async function piped(stdin: Terminal["stdin"]): Promise<string> {
  let text = "";
  stdin.setEncoding("utf8");
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > inputCharsMax) break;
  }
  return text.replace(/\r?\n$/, "");
}
