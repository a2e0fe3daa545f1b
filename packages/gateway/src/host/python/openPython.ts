/** Opens the Python scripts that the file of a process names, or says why they can not run within limits here. */
import { readFile, stat } from "node:fs/promises";
import { accessSync, constants } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";
import { arch, platform } from "node:process";
import {
  pythonSourceBytesMax,
  type PythonScriptConfig,
} from "@gateway/contract/config/pythonScript.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { PythonRewrites, type PythonFault, type PythonRewrite } from "./pythonRewrites.ts";

export interface PythonParts {
  readonly host: Pick<Host, "clock">;
  /** Folder of the bundle, which holds the launcher. */
  readonly bundle: URL;
  /** Where an interpreter is looked for after those of the system. */
  readonly path: string | undefined;
}

/** A part of the file that a start fails for. */
export interface PythonRefusal {
  readonly part: string;
  readonly reason: string;
}

const key = "translation.pythonScripts";
const systemFolders = ["/usr/bin", "/usr/local/bin"];
const architectures = new Set(["x64", "arm64"]);

/** Never opens what can not be limited: a statement would meet a script with the gateway's rights. */
export async function openPython(
  scripts: readonly PythonScriptConfig[],
  { host: { clock }, bundle, path }: PythonParts,
): Promise<Result<PythonRewrites, readonly PythonRefusal[]>> {
  if (platform !== "linux" || !architectures.has(arch)) {
    return refused(
      `can be limited on Linux on x86-64 or arm64 only, and this is ${platform} ${arch}`,
    );
  }
  const found = interpreters(path);
  if (found.length === 0) return refused("need python3, which is not found");
  const read = await Promise.all(
    scripts.map((script, index) => readScript(script, index, scripts)),
  );
  const unread = read.flatMap((one) => (one.ok ? [] : [one.error]));
  if (unread.length > 0) return err(unread.map(refusalOf));
  const rewrites = read.flatMap((one) => (one.ok ? [one.value] : []));
  const launcher = await readFile(new URL("pythonLauncher.py", bundle), "utf8");
  const faults: PythonRefusal[] = [];
  for (const python of found) {
    const opened = await PythonRewrites.open(rewrites, { python, launcher, clock });
    if (opened.ok) return opened;
    // Another interpreter may have what this one lacks, but reads no other language.
    if (opened.error.some(({ index }) => index !== undefined)) {
      return err(opened.error.map(refusalOf));
    }
    faults.push(
      ...opened.error.map(({ reason }) =>
        refusalOf({ index: undefined, reason: `${python} ${reason}` }),
      ),
    );
  }
  return err(faults);
}

function refused(reason: string): Result<never, readonly PythonRefusal[]> {
  return err([{ part: key, reason }]);
}

function refusalOf({ index, reason }: PythonFault): PythonRefusal {
  return { part: index === undefined ? key : `${key}[${index}].file`, reason };
}

/** Those of the system first: they need nothing of our environment. */
function interpreters(path: string | undefined): readonly string[] {
  const folders = [...systemFolders, ...(path ?? "").split(delimiter).filter(isAbsolute)];
  const files = folders.map((folder) => join(folder, "python3"));
  return [...new Set(files)].filter(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function readScript(
  { file, when, clusterGroups }: PythonScriptConfig,
  index: number,
  all: readonly PythonScriptConfig[],
): Promise<Result<PythonRewrite, PythonFault>> {
  const name = basename(file);
  const others = all.filter((other) => basename(other.file) === name);
  try {
    const { size } = await stat(file);
    if (size > pythonSourceBytesMax) {
      return err({ index, reason: `is larger than ${pythonSourceBytesMax} bytes` });
    }
    const source = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
    return ok({
      name: others.length > 1 ? `${name}[${index}]` : name,
      when,
      clusterGroups,
      source,
    });
  } catch (error) {
    const code = error instanceof TypeError ? "no UTF-8" : (error as NodeJS.ErrnoException).code;
    return err({ index, reason: `can not be read (${code ?? "unknown"})` });
  }
}
