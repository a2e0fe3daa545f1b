/**
 * Counts how often built-in functions are called, by the line that calls them: what a query does more often than it has
 * to shows by a number that is a multiple of the queries.
 *
 *     BENCH_FLAGS="--import ./test/bench/calls.mjs" BENCH_WAYS="--import ./test/bench/calls.mjs" \
 *       BENCH_SECONDS=18 CALLS_FILE=calls.json node test/bench/oneCore.mjs postgres
 *
 * It is loaded into the gateway, waits until that is warm, counts for a moment and writes the file. The gateway is many
 * times slower meanwhile, so no time of such a run means anything.
 */
import { writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** Milliseconds until a gateway under the bench is warm, and for how long calls are counted. */
const warmMs = 8_000;
const countedMs = 1_500;

const TypedArray = Object.getPrototypeOf(Uint8Array.prototype);
const counted = [
  [
    String.prototype,
    ["replace", "includes", "indexOf", "startsWith", "slice", "split", "padStart"],
  ],
  [String.prototype, ["toUpperCase", "toLowerCase"]],
  [RegExp.prototype, ["test"]],
  [Array.prototype, ["some", "every", "filter", "map", "flatMap", "find", "findIndex", "entries"]],
  [Array.prototype, ["slice", "splice", "concat", "join", "includes", "at"]],
  [Map.prototype, ["get", "set", "has", "delete", "clear", "values", "keys", "entries"]],
  [Set.prototype, ["add", "has", "delete"]],
  [WeakMap.prototype, ["get"]],
  [Object, ["hasOwn", "fromEntries", "keys", "entries", "assign"]],
  [JSON, ["stringify"]],
  [Buffer, ["from", "allocUnsafe"]],
  [TypedArray, ["subarray", "slice", "set", "indexOf"]],
  [Promise.prototype, ["then"]],
  [performance, ["now"]],
  [Date, ["now"]],
  [globalThis, ["setImmediate", "setTimeout", "clearTimeout"]],
  [process, ["nextTick"]],
];

if (isMainThread && process.argv.includes("start")) count();

function count() {
  const counts = new Map();
  const [read, keep] = [Map.prototype.get.bind(counts), Map.prototype.set.bind(counts)];
  let isCounting = false;
  for (const [owner, names] of counted) {
    for (const name of names) {
      const own = owner[name];
      const value = function (...args) {
        if (isCounting) {
          // What is done to count must not be counted.
          isCounting = false;
          const line = `${name} ${new Error().stack.split("\n")[2]?.trim() ?? ""}`;
          keep(line, (read(line) ?? 0) + 1);
          isCounting = true;
        }
        return Reflect.apply(own, this, args);
      };
      Object.defineProperty(owner, name, { value, configurable: true, writable: true });
    }
  }
  const write = () => {
    isCounting = false;
    const lines = [...counts].toSorted(([, a], [, b]) => b - a);
    writeFileSync(process.env["CALLS_FILE"] ?? "calls.json", JSON.stringify(lines, undefined, 1));
  };
  setTimeout(() => {
    Error.stackTraceLimit = 3;
    isCounting = true;
    setTimeout(write, countedMs).unref();
  }, warmMs).unref();
}
