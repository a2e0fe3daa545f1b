/**
 * What of a native package the image holds: what a process asks it for, and its terms. Left out is what compilers, browsers,
 * debuggers and machines with another C library ask for, a seventh of it.
 */
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stripSymbols } from "./stripSymbols.mjs";

/** By the path in `node_modules`. A package that comes to need more fails the image's test. */
const asked = [
  /\/package\.json$/,
  /\/LICEN[CS]E[^/]*$/,
  /@duckdb\/node-bindings-[^/]+\/(?:libduckdb\.(?:so|dylib)|duckdb\.dll)$/,
  /@electric-sql\/pglite\/dist\/(?:index\.cjs|pglite\.(?:wasm|data)|initdb\.wasm)$/,
  /@polyglot-sql\/sdk\/dist\/(?:index\.cjs|polyglot_sql\.wasm)$/,
  /\/koffi\/(?:src\/koffi\/(?:src\/)?)?(?:index|static|trampolines)\.cjs$/,
  /\/koffi-[^/]+\/(?:index\.js|(?!musl)[^/]+\/koffi\.node)$/,
];

export function copyNative(from, to) {
  const paths = readdirSync(from, { recursive: true, withFileTypes: true });
  for (const entry of paths) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isFile() && asked.some((one) => one.test(path))) {
      copyStripped(path, join(to, path.slice(from.length)));
    }
  }
}

/** A program stays one. */
export function copyStripped(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, stripSymbols(readFileSync(from)));
  if (!/\.[a-z]+$/.test(to)) chmodSync(to, 0o755);
}
