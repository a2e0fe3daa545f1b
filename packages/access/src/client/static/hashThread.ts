/** Thread program: compares passwords with bcrypt hashes. One comparison is about 70 ms of CPU, so it never runs on the main thread. */
import { parentPort } from "node:worker_threads";
import { compareSync } from "bcryptjs";

/** One comparison asked for. */
export interface HashRequest {
  readonly id: number;
  readonly password: string;
  readonly hash: string;
}

/** Its answer. */
export interface HashAnswer {
  readonly id: number;
  readonly match: boolean;
}

parentPort?.on("message", ({ id, password, hash }: HashRequest) => {
  const answer: HashAnswer = { id, match: compareSync(password, hash) };
  parentPort?.postMessage(answer);
});
