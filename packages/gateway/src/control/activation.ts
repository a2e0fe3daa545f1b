/** From a built snapshot to the parsed configuration that this process runs on; a large one in a thread of its own. */
import type { HistorySetting, SnapshotConfig } from "@gateway/control/config/objects.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { judged, type Activated, type JudgeInput } from "./judged.ts";
import type { JudgeAnswer } from "./judgeThread.ts";
import { parseSliced } from "./slices.ts";

/** Up to this a snapshot takes less time than a thread takes to start. */
const inlineBytesMax = 64 * 1024;

/** Judges and parses a snapshot, or answers every reason why it can not be active here. */
export async function activate(
  input: JudgeInput,
  host: Pick<Host, "threads">,
): Promise<Result<Activated, readonly string[]>> {
  if (input.bytes.length <= inlineBytesMax) return judged(input);
  const answer = await judgedInThread(input, host);
  if ("faults" in answer) return err(answer.faults);
  const { config, history } = answer;
  // The thread made both from what the schema answered.
  return ok({
    config: (await parseSliced(config)) as SnapshotConfig,
    history: history === undefined ? undefined : (JSON.parse(history) as HistorySetting),
  });
}

/** A thread that ends without an answer is a bug of the program; the configuration is refused with that. */
function judgedInThread(
  input: JudgeInput,
  { threads }: Pick<Host, "threads">,
): Promise<JudgeAnswer> {
  return new Promise((resolve) => {
    const thread = threads.start("judge", input);
    thread.onMessage((message) => resolve(message as JudgeAnswer));
    thread.onExit(() => resolve({ faults: ["the snapshot could not be judged"] }));
  });
}
