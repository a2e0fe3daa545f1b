/**
 * The worker's labels: those of the config, with those of a file merged over them. The file is the
 * one that Kubernetes writes for a pod (downward API): `key="value"`, one per line. It is read again
 * when it changes; one that can not be read or understood changes nothing.
 */
import { open } from "node:fs/promises";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { labelsBytesMax, labelsPollMs } from "../limits.ts";

export type Labels = Readonly<Record<string, string>>;

export interface WatchedLabels extends Disposable {
  current(): Labels;
  /** Resolves when the file has been looked at for the first time. */
  readonly ready: Promise<void>;
}

export interface LabelParts {
  readonly host: Pick<Host, "clock" | "log">;
  /** Config: `workerLabels`. */
  readonly base: Labels;
  /** Config: `workerLabelsFile`. */
  readonly file: string | undefined;
  changed(): void;
}

/** What a registration may hold. */
const keyCharsMax = 256;
const valueCharsMax = 1_024;

/** Begins to watch; disposing ends it. */
export function watchLabels(parts: LabelParts): WatchedLabels {
  const { base, file, host } = parts;
  let labels: Labels = base;
  let seen: string | undefined;
  let timer: Disposable | undefined;
  let stopped = false;

  function take(read: Result<string, string>): void {
    const state = read.ok ? `=${read.value}` : `!${read.error}`;
    if (state === seen) return;
    const first = seen === undefined;
    seen = state;
    const parsed = read.ok ? parseLabels(read.value) : read;
    if (!parsed.ok) {
      host.log.write("warn", "worker.labelsIgnored", { file, reason: parsed.error });
      return;
    }
    labels = { ...base, ...parsed.value };
    if (!first) host.log.write("info", "worker.labelsChanged", { file });
    parts.changed();
  }

  async function look(path: string): Promise<void> {
    const read = await readText(path);
    if (stopped) return;
    take(read);
    timer = host.clock.timer(labelsPollMs, () => again(path));
  }

  function again(path: string): void {
    look(path).catch((bug: unknown) => host.log.bug(bug));
  }

  const ready = file === undefined ? Promise.resolve() : look(file);
  return {
    current: () => labels,
    ready,
    [Symbol.dispose]: () => {
      stopped = true;
      timer?.[Symbol.dispose]();
    },
  };
}

/** Reads `key="value"` lines; the value may stand without quotes. Refuses the file for one bad line. */
export function parseLabels(text: string): Result<Labels, string> {
  const entries: [string, string][] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const at = line.indexOf("=");
    const key = line.slice(0, Math.max(0, at)).trim();
    const value = valueOf(line.slice(at + 1).trim());
    if (key === "" || key.length > keyCharsMax || value === undefined) {
      return err(`line ${index + 1} is no key="value"`);
    }
    if (value.length > valueCharsMax) return err(`line ${index + 1} is too long`);
    entries.push([key, value]);
  }
  return ok(Object.fromEntries(entries));
}

/** Kubernetes quotes as Go does, which for what labels and annotations hold is how JSON does. */
function valueOf(written: string): string | undefined {
  if (!written.startsWith('"')) return written;
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

async function readText(path: string): Promise<Result<string, string>> {
  try {
    await using handle = await open(path, "r");
    const buffer = Buffer.alloc(labelsBytesMax + 1);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    if (bytesRead > labelsBytesMax) return err(`it is larger than ${labelsBytesMax} bytes`);
    return ok(buffer.toString("utf8", 0, bytesRead));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "failed";
    return err(`it can not be read (${code})`);
  }
}
