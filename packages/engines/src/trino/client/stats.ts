/** Trino's counters of a statement as the neutral ones. */
import type { EngineWork } from "@gateway/core/query/event.ts";
import { textOfSpan, type Span } from "@gateway/wire/trino/clientPage.ts";

export interface TrinoStats {
  readonly queued: boolean;
  readonly work: EngineWork;
}

type Fields = Readonly<Record<string, unknown>>;

/** Stages are a tree of any size behind the counters, and nothing here needs them. */
const stages = ',"rootStage":';

/** Reads the counters; undefined when they are none. */
export function statsOf(bytes: Uint8Array, span: Span | undefined): TrinoStats | undefined {
  if (span === undefined) return undefined;
  const text = textOfSpan(bytes, span);
  const cut = text.indexOf(stages);
  const fields = parsed(cut < 0 ? text : `${text.slice(0, cut)}}`);
  if (fields === undefined) return undefined;
  return {
    queued: fields["queued"] === true || fields["state"] === "QUEUED",
    work: workOf(fields),
  };
}

function workOf(fields: Fields): EngineWork {
  const work = {
    splitsQueued: countOf(fields["queuedSplits"]),
    splitsRunning: countOf(fields["runningSplits"]),
    splitsDone: countOf(fields["completedSplits"]),
    nodes: countOf(fields["nodes"]),
    cpuMs: countOf(fields["cpuTimeMillis"]),
    rowsRead: countOf(fields["processedRows"]),
    bytesRead: countOf(fields["processedBytes"]),
    peakBytes: countOf(fields["peakMemoryBytes"]),
  };
  const percent = fields["progressPercentage"];
  return typeof percent === "number" ? Object.assign(work, { percent }) : work;
}

function countOf(value: unknown): number {
  return typeof value === "number" && value > 0 ? value : 0;
}

function parsed(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}
