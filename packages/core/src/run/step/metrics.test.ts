import { describe, expect, it } from "vitest";
import { recordedMetrics } from "../../rig/recorder.ts";
import type { Metrics } from "../../port/metrics.ts";
import { queryMetrics } from "./metrics.ts";

describe("queryMetrics", () => {
  it("makes each handle once, and another one for each other label", () => {
    let made = 0;
    const recorded = recordedMetrics();
    const counting: Metrics = {
      ...recorded,
      counter: (family, values) => {
        made += 1;
        return recorded.counter(family, values);
      },
    };
    const metrics = queryMetrics(counting);
    const first = metrics.finished("duckDb", "main", "finished", "trinoHttp");
    expect(metrics.finished("duckDb", "main", "finished", "trinoHttp")).toBe(first);
    expect(made).toBe(1);
    const others = [
      metrics.finished("trino", "main", "finished", "trinoHttp"),
      metrics.finished("duckDb", "other", "finished", "trinoHttp"),
      metrics.finished("duckDb", "main", "failed", "trinoHttp"),
      metrics.finished("duckDb", "main", "finished", "postgresWire"),
      metrics.rejections("main"),
    ];
    expect(new Set([first, ...others]).size).toBe(6);
    expect(made).toBe(6);
  });
});
