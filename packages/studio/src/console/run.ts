/** One run of the console: the lines of its answer as they come. */
import type { RunEvent, RunRequest } from "@gateway/contract/studioApi.ts";
import { send } from "../api/writes.ts";
import { after, startState, type RunError, type RunState } from "./events.ts";

/** Reads to the end; `onState` is told at most once for each piece that arrives. Throws refusals of the request. */
export async function run(
  request: RunRequest,
  signal: AbortSignal,
  onState: (state: RunState) => void,
): Promise<void> {
  const response = await send("POST /run", { body: request, signal });
  let state = startState;
  let rest = "";
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  for (;;) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) break;
    const lines = `${rest}${decoder.decode(piece.value, { stream: true })}`.split("\n");
    rest = lines.pop() ?? "";
    state = lines
      .filter((line) => line !== "")
      .reduce((before, line) => after(before, JSON.parse(line) as RunEvent), state);
    onState(state);
  }
  if (state.kind === "done" || state.kind === "failed") return;
  onState({ ...state, kind: "failed", error: brokenOff });
}

const brokenOff: RunError = {
  code: "brokenOff",
  message: "The answer broke off. What came until then is shown.",
  retry: "later",
};
