import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import { describe, expect, it } from "vitest";
import type { Failure } from "../../failure.ts";
import type { Prepared } from "../../read/statement.ts";
import { Pipeline, type PipelineParts } from "./pipeline.ts";

describe("executions that were begun behind others", () => {
  it("are told apart from cancelled ones where an earlier one failed", async () => {
    const { pipeline, cancels } = pipelineOf("fails");
    begin(pipeline, 3);
    expect(await pipeline.settle()).toBe(failure);
    const message = "not run, because an earlier statement of its series failed";
    expect(cancels).toMatchObject([
      { code: "query.cancelled", message },
      { code: "query.cancelled", message },
    ]);
  });

  it("are cancelled where their client left", async () => {
    const { pipeline, cancels } = pipelineOf("waits");
    begin(pipeline, 2);
    await pipeline.abandon();
    const cancelled = gatewayError("query.cancelled");
    expect(cancels).toEqual([cancelled, cancelled]);
  });
});

const failure = { error: gatewayError("query.invalid") } as unknown as Failure;
const prepared = { relayed: true, types: [], description: undefined } as unknown as Prepared;

function begin(pipeline: Pipeline, count: number): void {
  const bind = {
    kind: "bind",
    portal: "",
    statement: "s",
    formats: [],
    values: [],
    resultFormats: [],
  } as const;
  for (let taken = 0; taken < count; taken += 1) {
    expect(pipeline.takes(bind, prepared)).toBe(true);
    expect(pipeline.executes()).toBe(true);
  }
}

/** Over a transaction that takes executions ahead of their answers; the first step ends as it is told. */
function pipelineOf(first: "fails" | "waits") {
  const cancels: GatewayError[] = [];
  const execution = {
    begin: () => {},
    cancel: (reason: GatewayError) => void cancels.push(reason),
    [Symbol.asyncDispose]: async () => {},
  };
  const parts = {
    session: { status: "T", pin: { streams: () => true }, setting: () => "off" },
    out: { put: () => {} },
    executor: { mayBegin: true, begun: undefined, prepare: () => execution },
    catalog: { takes: () => false },
    named: {},
    inbox: { whole: () => true },
    step: async () => (first === "fails" ? failure : undefined),
  };
  return { pipeline: new Pipeline(parts as unknown as PipelineParts), cancels };
}
