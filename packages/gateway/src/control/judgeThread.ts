/** Thread program: judges one snapshot and ends. A large one would hold up every query on the main thread. */
import { parentPort, workerData } from "node:worker_threads";
import { judged, type JudgeInput } from "./judged.ts";

/** The configuration goes back as JSON, to be read in slices: taking an object of this size apart at once would stall too. */
export type JudgeAnswer =
  | { readonly config: Uint8Array<ArrayBuffer>; readonly history: string | undefined }
  | { readonly faults: readonly string[] };

const answer = judged(workerData as JudgeInput);
if (answer.ok) {
  const { config, history } = answer.value;
  const bytes = new TextEncoder().encode(JSON.stringify(config));
  const message: JudgeAnswer = {
    config: bytes,
    history: history === undefined ? undefined : JSON.stringify(history),
  };
  parentPort?.postMessage(message, [bytes.buffer]);
} else {
  const message: JudgeAnswer = { faults: answer.error };
  parentPort?.postMessage(message);
}
