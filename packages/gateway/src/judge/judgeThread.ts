/** Thread program: judges snapshots, one after the other. On the main thread a large one would hold up every query. */
import { parentPort } from "node:worker_threads";
import { judged, type JudgeInput } from "./judged.ts";

/** The configuration goes back as JSON, which is read in slices: receiving an object of this size at once would stall the loop, too. */
export type JudgeAnswer =
  | { readonly config: Uint8Array<ArrayBuffer>; readonly history: string | undefined }
  | { readonly faults: readonly string[] };

parentPort?.on("message", (input: JudgeInput) => {
  const answer = judged(input);
  if (!answer.ok) {
    parentPort?.postMessage({ faults: answer.error } satisfies JudgeAnswer);
    return;
  }
  const { config, history } = answer.value;
  const bytes = new TextEncoder().encode(JSON.stringify(config));
  const message: JudgeAnswer = {
    config: bytes,
    history: history === undefined ? undefined : JSON.stringify(history),
  };
  parentPort?.postMessage(message, [bytes.buffer]);
});
