/** The keys that seal secrets in the database: from the config, or made once and kept beside an embedded one. */
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import type { PersistenceConfig } from "../config/persistence.ts";
import { plainSecrets } from "../config/secrets.ts";

export type SealingSecrets = readonly [Secret, ...Secret[]];

/** Current first. Answers why there is none. */
export function sealingSecrets(
  persistence: PersistenceConfig,
  host: Pick<Host, "randomBytes">,
): Result<SealingSecrets, string> {
  // A database in memory stores nothing: the key lives as long as what it seals.
  if (persistence.type === "inMemory") return ok([newSecret(host)]);
  const { encryptionKey } = persistence;
  if (encryptionKey !== undefined) {
    const [first, ...more] = plainSecrets(encryptionKey);
    return first === undefined ? err("the list is empty") : ok([first, ...more]);
  }
  return persistence.type === "pglite"
    ? keptSecret(keyFileOf(persistence.path), host)
    : err("is missing");
}

/** Beside the folder and not in it, so that a copy of the folder alone opens nothing. */
export function keyFileOf(folder: string): string {
  return `${folder.replace(/\/+$/, "")}.key`;
}

function newSecret({ randomBytes }: Pick<Host, "randomBytes">): Secret {
  return new Secret(Buffer.from(randomBytes(32)).toString("base64"));
}

function keptSecret(file: string, host: Pick<Host, "randomBytes">): Result<SealingSecrets, string> {
  try {
    const known = read(file);
    if (known !== undefined) return ok([known]);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.${Buffer.from(host.randomBytes(6)).toString("hex")}`;
    writeFileSync(draft, `${newSecret(host).reveal()}\n`, { mode: 0o600, flag: "wx" });
    try {
      // Fails when another process wrote its key first. That key then counts.
      linkSync(draft, file);
      chmodSync(file, 0o600);
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    } finally {
      rmSync(draft);
    }
    const made = read(file);
    return made === undefined ? err(`${file} is empty`) : ok([made]);
  } catch (error) {
    return err(`${file} can not be used (${codeOf(error)})`);
  }
}

function read(file: string): Secret | undefined {
  try {
    const text = readFileSync(file, "utf8").trim();
    return text === "" ? undefined : new Secret(text);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error";
}
