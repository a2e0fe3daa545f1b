import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { promMetrics } from "./metrics.ts";

const counted = {
  name: "gateway_made_total",
  help: "Made \\ for\na test.",
  labels: ["a", "b"],
} as const;
const level = { name: "gateway_level", help: "Level.", labels: [] } as const;
const took = {
  name: "gateway_took_seconds",
  help: "Took.",
  labels: ["a"],
  buckets: [0.1, 1, 5],
} as const;

/** Lines of our families alone. */
function own(text: string): readonly string[] {
  return text.split("\n").filter((line) => /^(?:# \w+ )?gateway_/.test(line));
}

describe("promMetrics", () => {
  it("exposes what prom-client's own counters would, line by line", async () => {
    const metrics = promMetrics();
    const registers = [new Registry()];
    const counter = new Counter({ ...counted, labelNames: counted.labels, registers });
    const gauge = new Gauge({ ...level, labelNames: level.labels, registers });
    const buckets = [...took.buckets];
    const histogram = new Histogram({ ...took, buckets, labelNames: took.labels, registers });
    const values = { a: 'quote " and\nline', b: "back \\ slash" };
    for (const count of [1, 0.5, 0]) {
      metrics.counter(counted, values).add(count);
      counter.inc(values, count);
    }
    const ours = metrics.gauge(level, {});
    ours.set(5);
    ours.add(-7);
    gauge.set(-2);
    for (const seconds of [0.1, 0.05, 1.5, 5, 5.1, 0]) {
      metrics.histogram(took, { a: "x" }).observe(seconds);
      histogram.observe({ a: "x" }, seconds);
    }
    const [registry] = registers;
    const lines = own(await metrics.expose());
    expect(lines).toEqual(own((await registry?.metrics()) ?? ""));
    expect(lines).toHaveLength(14);
  });

  it("shows a series with labels once something was counted, and one without from the start", async () => {
    const metrics = promMetrics();
    const handle = metrics.counter(counted, { a: "1", b: "2" });
    metrics.gauge(level, {});
    expect(own(await metrics.expose()).filter((line) => !line.startsWith("#"))).toEqual([
      "gateway_level 0",
    ]);
    handle.add(2);
    metrics.counter(counted, { b: "2", a: "1" }).add(1);
    expect(own(await metrics.expose())).toContain('gateway_made_total{a="1",b="2"} 3');
  });

  it("takes no number that would make its series one that no reader can use", () => {
    const metrics = promMetrics();
    const counter = metrics.counter(counted, { a: "1", b: "2" });
    for (const wrong of [-1, Number.NaN]) expect(() => counter.add(wrong)).toThrow(RangeError);
    const histogram = metrics.histogram(took, { a: "1" });
    expect(() => histogram.observe(Number.NaN)).toThrow(TypeError);
  });
});
