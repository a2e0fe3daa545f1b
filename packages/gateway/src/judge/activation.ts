/** From a built snapshot to the parsed configuration that this process runs on, judged in a thread of its own. */
import type { HistorySetting, SnapshotConfig } from "@gateway/control/config/objects.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { collectedEarly } from "./collector.ts";
import type { Judge } from "./judge.ts";
import { judged, type Activated, type JudgeInput } from "./judged.ts";
import { copiedSliced, parseSliced } from "./slices.ts";

/** Up to this size judging takes some milliseconds, which queries do not feel. */
const inlineBytesMax = 2 * 1024;

/** Judges and parses a snapshot, or answers every reason why it can not be active here. */
export async function activate(
  input: JudgeInput,
  judge: Judge,
): Promise<Result<Activated, readonly string[]>> {
  if (input.bytes.length <= inlineBytesMax) return judged(input);
  const bytes = await copiedSliced(input.bytes);
  const answer = await judge.ask({ ...input, bytes }, [bytes.buffer]);
  if ("faults" in answer) return err(answer.faults);
  const { config, history } = answer;
  // The thread wrote both from what the schema answered, so their types are right.
  return ok({
    config: (await collectedEarly(() => parseSliced(config))) as SnapshotConfig,
    history: history === undefined ? undefined : (JSON.parse(history) as HistorySetting),
  });
}
