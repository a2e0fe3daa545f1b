/** Thread program: bcrypt. One comparison or one new hash is about 70 ms of CPU, so neither ever runs on the main thread. */
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { compareSync, hashSync } from "bcryptjs";
import { hashCost } from "./inline.ts";

/** Compares `password` with `hash`, or makes a hash of it when there is none. */
export interface HashRequest {
  readonly id: number;
  readonly password: string;
  readonly hash: string | undefined;
}

export interface HashResponse {
  readonly id: number;
  /** Of a comparison. */
  readonly match: boolean;
  /** The new hash; empty after a comparison. */
  readonly hash: string;
}

/**
 * Users who are logged in must not notice two hundred others who log in. A thread this nice still
 * gets about a thirtieth of a busy core, so nobody is kept out for good.
 */
const niceness = 15;
// On Linux the priority is this thread's, elsewhere it would be the process's own.
if (process.platform === "linux") setPriority(niceness);

parentPort?.on("message", ({ id, password, hash }: HashRequest) => {
  const response: HashResponse =
    hash === undefined
      ? { id, match: false, hash: hashSync(password, hashCost) }
      : { id, match: compareSync(password, hash), hash: "" };
  parentPort?.postMessage(response);
});
