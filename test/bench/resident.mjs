/** Where a process's resident memory is, in megabytes, by what each mapping is. Linux. */
import { readFileSync } from "node:fs";

const v8PageBytes = 256 << 10;
const arenaBytes = 64 << 20;
/** PGlite asks for this much at once; what it has touched of it is resident. */
const wasmBytes = 128 << 20;

/** `shared`: pages of files, which other processes of the same program have as well. */
export function residentParts(pid) {
  const parts = { heaps: 0, code: 0, wasm: 0, native: 0, shared: 0 };
  let part = "native";
  for (const line of readFileSync(`/proc/${pid}/smaps`, "utf8").split("\n")) {
    const head = /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+\s*(.*)$/.exec(line);
    if (head) part = partOf(head);
    const resident = /^Rss:\s+(\d+) kB/.exec(line);
    if (resident) parts[part] += Number(resident[1]) / 1024;
  }
  const rounded = Object.entries(parts).map(([name, value]) => [name, Math.round(value)]);
  return Object.fromEntries(rounded);
}

function partOf([, from, to, access, name]) {
  if (name.startsWith("/")) return "shared";
  if (access.includes("x")) return "code";
  const start = Number.parseInt(from, 16);
  const bytes = Number.parseInt(to, 16) - start;
  if (name === "" && bytes === wasmBytes) return "wasm";
  // V8 takes its pages below the libraries' part of the addresses.
  const v8s = name === "" && start < 0x7000_0000_0000 && start % v8PageBytes === 0;
  return v8s && bytes < arenaBytes ? "heaps" : "native";
}
