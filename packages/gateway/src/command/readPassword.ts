/** A password from the terminal (not echoed) or from standard input. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Terminal } from "./terminal.ts";

const inputCharsMax = 4_096;

/** Empty when nothing was given. */
export async function readPassword(terminal: Terminal): Promise<string> {
  return terminal.stdin.isTTY === true ? await typed(terminal) : await piped(terminal.stdin);
}

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
