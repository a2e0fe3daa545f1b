/** The end of a process in which something hangs. Says nothing about when that is. */

/**
 * Ends the process at once with `code`. Node's own exit waits for its threads, and a thread that
 * computes inside a library never ends; a signal to itself would lose the code. The caller has done
 * what must be done at the end (lines that wait, children). Without native functions Node's exit
 * has to do.
 */
export async function exitNow(code: number): Promise<never> {
  const end = await systemExit();
  process.exitCode = code;
  process.emit("exit", code);
  end?.(code);
  return process.exit(code);
}

async function systemExit(): Promise<((code: number) => unknown) | undefined> {
  try {
    const { loadLibrary } = await import("@gateway/engines/native/memory/native.ts");
    return loadLibrary(null).get("_exit", { answer: "void", takes: ["int32"] });
  } catch {
    return undefined;
  }
}
