/** The events of one run, and what is known after each of them. */
import type { RunCell, RunEvent } from "@gateway/contract/studioApi.ts";

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
