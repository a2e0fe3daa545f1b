/** `gateway import pgbouncer FILE`: prints a config for what PgBouncer's does, and says what it could not carry over. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { newHash } from "@gateway/access/client/static/inline.ts";
import { newVerifier } from "@gateway/access/client/static/scram.ts";
import { stringify } from "yaml";
import { exitCode, type Terminal } from "../command/terminal.ts";
import { checkConfig } from "../config/load.ts";
import { readIni, readUserlist, type Ini, type ListedUser } from "./ini.ts";
import { importedFrom } from "./pgbouncer.ts";
import type { Hashes } from "./pgbouncerUsers.ts";

/** A file of a pooler is small; a longer one is something else. */
const fileBytesMax = 16 * 1024 * 1024;

/** Writes the config to the output, and every warning as a comment at its head and to the errors. */
export async function importPgbouncerCommand(file: string, terminal: Terminal): Promise<number> {
  const text = textOf(file);
  if (text === undefined) {
    terminal.err(`${file}: can not be read\n`);
    return exitCode.config;
  }
  const ini = readIni(text);
  const users = listOf(ini, file);
  const { document, warnings } = await importedFrom({ ini, users, hashes });
  const checked = checkConfig(document);
  const wrong = checked.ok ? [] : checked.error.map(({ path, reason }) => `${path}: ${reason}`);
  const head = [
    `Imported from ${file}.`,
    ...warnings,
    ...wrong.map((one) => `to be mended: ${one}`),
  ];
  terminal.out(`${head.map((line) => `# ${oneLine(line)}`).join("\n")}\n${stringify(document)}`);
  for (const line of [...warnings, ...wrong]) terminal.err(`${file}: ${oneLine(line)}\n`);
  return wrong.length === 0 ? exitCode.clean : exitCode.config;
}

/** A name in the file may hold anything; a comment ends with its line. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ");
}

function listOf(ini: Ini, file: string): readonly ListedUser[] | undefined {
  const named = (ini.sections.get("pgbouncer") ?? []).findLast(({ key }) => key === "auth_file");
  const text = named && textOf(resolve(dirname(file), named.value));
  return text === undefined ? undefined : readUserlist(text);
}

function textOf(file: string): string | undefined {
  try {
    const bytes = readFileSync(file);
    return bytes.length > fileBytesMax ? undefined : bytes.toString("utf8");
  } catch {
    return undefined;
  }
}

const hashes: Hashes = {
  bcrypt: async (password) => {
    const made = await newHash(password);
    return made.ok ? made.value : undefined;
  },
  scram: async (password) => {
    const made = await newVerifier(password);
    return made.ok ? made.value : undefined;
  },
};
