/**
 * The program of a thread that holds a database: runs the thread's own program, whose address is its first
 * argument, and collects what that leaves.
 */
import { systemClock } from "../clock.ts";
import { collectLeft } from "../memory/threadHeap.ts";

const [, , program = ""] = process.argv;
collectLeft(systemClock);
await import(program);
