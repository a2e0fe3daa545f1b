/**
 * A program of its own: values come and go, eight at once, 100,000 in all, into what its argument names. Run with V8's
 * `--expose-gc --trace-gc --trace-gc-nvp`, it says what each small collection moved to the old part of the heap.
 */
import { Aged } from "../aged.ts";
import { Cells } from "../cells.ts";
import { Members } from "../members.ts";

const comings = 100_000;
const atOnce = 8;

/** Takes a value in, and answers how it goes. */
type Come = (name: string, value: object) => () => void;

const map = new Map<string, object>();
const cells = new Cells<string, object>();
const aged = new Aged<string, object>();
const members = new Members<object>();

const ways: Readonly<Record<string, Come>> = {
  map: (name, value) => {
    map.set(name, value);
    return () => void map.delete(name);
  },
  cells: (name, value) => {
    cells.set(name, value);
    return () => void cells.delete(name);
  },
  aged: (name, value) => {
    aged.put(name, value);
    return () => aged.delete(name);
  },
  members: (_, value) => {
    const place = members.add(value);
    return () => members.remove(place);
  },
};

const come = ways[process.argv[2] ?? ""];
/** What is there when a quiet time ends is old. */
const quietUntil = 100;
const going: (() => void)[] = [];
for (let n = 0; n < comings; n += 1) {
  if (n === quietUntil) globalThis.gc?.();
  const value = { parts: Array.from({ length: 8 }, (_, part) => [n, part, n + 0.5, {}]) };
  const go = come?.(`query${n}`, value);
  if (go !== undefined) going.push(go);
  if (going.length > atOnce) going.shift()?.();
}
