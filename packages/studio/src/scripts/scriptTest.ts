/** Asks the control plane what a script does; it need not be saved. */
import { queryOptions } from "@tanstack/react-query";
import type { ScriptAnswer } from "../api/shapes.ts";
import { write } from "../api/writes.ts";

export interface ScriptAsked {
  readonly use: string;
  readonly source: string;
  readonly query?: unknown;
  readonly beside?: unknown;
}

export function testScript(asked: ScriptAsked, signal?: AbortSignal): Promise<ScriptAnswer> {
  const body = asked.source === "" ? { ...asked, source: " " } : asked;
  return write("POST /script-test", {
    body,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Whether it compiles, while it is typed. What it answers to a plain query says nothing yet. */
export function compileQuery(use: string, source: string) {
  return queryOptions({
    queryKey: ["script-test", use, source],
    queryFn: ({ signal }) => testScript({ use, source }, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    retry: false,
  });
}

/** `Line 3: SyntaxError: …`; the line once. */
export function failureText(answer: ScriptAnswer & { readonly answered: false }): string {
  const { detail, line } = answer;
  return line === undefined ? detail : `Line ${line}: ${detail}`;
}
