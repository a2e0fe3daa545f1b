/**
 * The program of a thread that holds a database: runs the thread's own program, whose address is its first
 * argument, collects what that leaves, and gives it back.
 */
import { systemClock } from "../clock.ts";
import { collectLeft } from "../memory/threadHeap.ts";
import { watchZeros } from "../memory/wasmZeros.ts";

const [, , program = ""] = process.argv;
const giveZeros = watchZeros();
collectLeft(systemClock, () => void giveZeros());
await import(program);
