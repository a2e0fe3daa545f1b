/** Trino's counters of a statement as the neutral ones. */
import type { EngineWork } from "@gateway/core/query/event.ts";
import { textOfSpan, type Span } from "@gateway/wire/trino/clientPage.ts";

export interface TrinoStats {
  readonly queued: boolean;
  readonly work: EngineWork;
}

/** Stages are a tree of any size behind the counters, and nothing here needs them. */
const stages = ',"rootStage":';

/** Reads the counters; undefined when they are none. */
export function statsOf(bytes: Uint8Array, span: Span | undefined): TrinoStats | undefined {
  if (span === undefined) return undefined;
  const text = textOfSpan(bytes, span);
  const cut = text.indexOf(stages);
  const fields = parsed(cut < 0 ? text : `${text.slice(0, cut)}}`);
  if (fields === undefined) return undefined;
  const count = (name: string): number => {
    const value = fields[name];
    return typeof value === "number" && value > 0 ? value : 0;
  };
  const percent = fields["progressPercentage"];
  return {
    queued: fields["queued"] === true || fields["state"] === "QUEUED",
    work: {
      splitsQueued: count("queuedSplits"),
      splitsRunning: count("runningSplits"),
      splitsDone: count("completedSplits"),
      nodes: count("nodes"),
      cpuMs: count("cpuTimeMillis"),
      rowsRead: count("processedRows"),
      bytesRead: count("processedBytes"),
      peakBytes: count("peakMemoryBytes"),
      ...(typeof percent === "number" ? { percent } : {}),
    },
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
