/**
 * Migration files as Drizzle Kit lays them out: a journal that orders them, and one SQL file each.
 *
 * Reading and judging only; nothing here knows a database. `readMigrations` takes a folder;
 * `migrationsOf` takes the same texts from wherever a bundle keeps them.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { z } from "zod";

export interface Migration {
  /** Name of the file without its ending: `V018__worker_registry`. */
  readonly name: string;
  /** What an operator calls it: `V018`. */
  readonly version: string;
  /** From the journal; orders the files and is what Drizzle compares. Unix milliseconds. */
  readonly when: number;
  /** SHA-256 of the file, lower-case hex, as Drizzle writes it. */
  readonly hash: string;
  /** Parts between Drizzle's breakpoints, in order; each may hold several statements. */
  readonly parts: readonly string[];
  /** True when the first line says so: each part then runs alone, and must stand being run twice. */
  readonly outside: boolean;
}

/** The texts of a migrations folder. */
export interface MigrationTexts {
  /** `meta/_journal.json`. */
  readonly journal: string;
  /** Text of each SQL file by its name without the ending. */
  readonly files: Readonly<Record<string, string>>;
}

/** `journal`: not Drizzle's journal, or not in order. `missing`: the journal names a file that is not there. */
export type ReadRefusal =
  | { readonly code: "journal"; readonly detail: string }
  | { readonly code: "missing"; readonly name: string };

const breakpoint = "--> statement-breakpoint";
const outsideLine = "-- outside a transaction";

const journalSchema = z.object({
  entries: z.array(z.object({ tag: z.string().regex(/^[\w-]+$/), when: z.int().nonnegative() })),
});

/** Reads the texts of a folder, for a bundle to keep or for `migrationsOf`. */
export async function loadMigrations(
  folder: URL | string,
): Promise<Result<MigrationTexts, ReadRefusal>> {
  const root = typeof folder === "string" ? folder : fileURLToPath(folder);
  const journal = await textOf(join(root, "meta", "_journal.json"));
  if (journal === undefined) return err({ code: "journal", detail: "not found" });
  const entries = entriesOf(journal);
  if (!entries.ok) return entries;
  // At once: a start waits for them, and one after the other each waits for a thread.
  const texts = await Promise.all(
    entries.value.map(async ({ tag }) => [tag, await textOf(join(root, `${tag}.sql`))] as const),
  );
  const files: Record<string, string> = {};
  for (const [tag, text] of texts) {
    if (text === undefined) return err({ code: "missing", name: tag });
    files[tag] = text;
  }
  return ok({ journal, files });
}

/** The migrations of a folder, oldest first. */
export async function readMigrations(
  folder: URL | string,
): Promise<Result<readonly Migration[], ReadRefusal>> {
  const texts = await loadMigrations(folder);
  return texts.ok ? migrationsOf(texts.value) : texts;
}

/** Parses texts that were read before. Oldest first. */
export function migrationsOf(texts: MigrationTexts): Result<readonly Migration[], ReadRefusal> {
  const entries = entriesOf(texts.journal);
  if (!entries.ok) return entries;
  const migrations: Migration[] = [];
  for (const { tag, when } of entries.value) {
    const text = texts.files[tag];
    if (text === undefined) return err({ code: "missing", name: tag });
    migrations.push(migrationOf(tag, when, text));
  }
  return ok(migrations);
}

type Entries = z.output<typeof journalSchema>["entries"];

function entriesOf(journal: string): Result<Entries, ReadRefusal> {
  const parsed = journalSchema.safeParse(jsonOf(journal));
  if (!parsed.success) return err({ code: "journal", detail: "not a journal" });
  const { entries } = parsed.data;
  // Drizzle skips a file that is not younger than the last one it applied, without a word.
  const late = entries.find(({ when }, index) => when <= (entries[index - 1]?.when ?? -1));
  if (late !== undefined) return err({ code: "journal", detail: `${late.tag} is out of order` });
  return ok(entries);
}

function migrationOf(name: string, when: number, text: string): Migration {
  const [firstLine = ""] = text.split("\n", 1);
  return {
    name,
    version: name.split("__", 1)[0] ?? name,
    when,
    hash: createHash("sha256").update(text).digest("hex"),
    parts: text.split(breakpoint).filter((part) => part.trim() !== ""),
    outside: firstLine.trim() === outsideLine,
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return undefined;
  }
}
