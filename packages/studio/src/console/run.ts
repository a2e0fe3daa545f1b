/** One run of the console: the lines of its answer as they come, and what has come so far. */
import type { RunCell, RunEvent, RunRequest } from "@gateway/contract/studioApi.ts";
import { send } from "../api/client.ts";

export type RunError = Extract<RunEvent, { readonly kind: "failed" }>["error"];
export type RunColumn = Extract<RunEvent, { readonly kind: "columns" }>["columns"][number];
export type RunDone = Extract<RunEvent, { readonly kind: "done" }>;

export interface RunState {
  readonly kind: "waiting" | "running" | "done" | "failed" | "stopped";
  readonly id: string | undefined;
  readonly user: string | undefined;
  readonly position: number | undefined;
  readonly columns: readonly RunColumn[];
  readonly rows: readonly (readonly RunCell[])[];
  readonly notices: readonly string[];
  readonly done: RunDone | undefined;
  readonly error: RunError | undefined;
}

export const startState: RunState = {
  kind: "waiting",
  id: undefined,
  user: undefined,
  position: undefined,
  columns: [],
  rows: [],
  notices: [],
  done: undefined,
  error: undefined,
};

/** Reads to the end; `onState` is told at most once for each piece that arrives. Throws refusals of the request. */
export async function run(
  request: RunRequest,
  signal: AbortSignal,
  onState: (state: RunState) => void,
): Promise<void> {
  const response = await send("/run", { method: "POST", body: request, signal });
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

/** What is known after one more event. */
export function after(state: RunState, event: RunEvent): RunState {
  switch (event.kind) {
    case "started":
      return { ...state, id: event.id, user: event.user };
    case "queued":
      return { ...state, kind: "waiting", position: event.position };
    case "progress":
      return { ...state, kind: event.state === "running" ? "running" : "waiting" };
    case "notice":
      return { ...state, notices: [...state.notices, event.text] };
    case "columns":
      return { ...state, kind: "running", columns: event.columns };
    case "rows":
      return { ...state, kind: "running", rows: [...state.rows, ...event.rows] };
    case "done":
      return { ...state, kind: "done", done: event };
    case "failed":
      return { ...state, kind: "failed", error: event.error };
  }
}
