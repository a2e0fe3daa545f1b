import { describe, expect, it } from "vitest";
import { embeddedMetrics } from "./embedded.ts";

const refused = { name: "gateway_refused_total", help: "", labels: ["reason"] } as const;
const bugs = { name: "gateway_bugs_total", help: "", labels: [] } as const;
const waiting = { name: "gateway_waiting", help: "", labels: [] } as const;
const took = { name: "gateway_took_seconds", help: "", labels: [], buckets: [1] } as const;

describe("embeddedMetrics", () => {
  it("writes what was counted since the last line, with a dimension for each label", () => {
    const { metrics, lines } = written();
    const counter = metrics.counter(refused, { reason: "denied" });
    counter.add(1);
    metrics.counter(refused, { reason: "denied" }).add(2);
    metrics.flush();
    counter.add(4);
    metrics.flush();
    expect(lines.map((line) => line["gateway_refused_total"])).toEqual([3, 4]);
    expect(lines[0]).toEqual({
      _aws: {
        Timestamp: 1_000,
        CloudWatchMetrics: [
          {
            Namespace: "QueryGateway",
            Dimensions: [["FunctionName", "reason"]],
            Metrics: [{ Name: "gateway_refused_total", Unit: "Count" }],
          },
        ],
      },
      FunctionName: "control",
      reason: "denied",
      gateway_refused_total: 3,
    });
  });

  it("writes nothing where nothing changed", () => {
    const { metrics, lines } = written();
    metrics.counter(bugs, {});
    metrics.gauge(waiting, {});
    metrics.flush();
    expect(lines).toEqual([]);
  });

  it("writes one line for each set of label values", () => {
    const { metrics, lines } = written();
    for (const reason of ["a", "b"]) metrics.counter(refused, { reason }).add(1);
    metrics.counter(bugs, {}).add(1);
    metrics.gauge(waiting, {}).add(2);
    metrics.gauge(waiting, {}).add(3);
    metrics.flush();
    expect(lines).toHaveLength(3);
    expect(lines.at(-1)).toMatchObject({ gateway_bugs_total: 1, gateway_waiting: 5 });
  });

  it("writes each value of a histogram, a hundred in a line at most", () => {
    const { metrics, lines } = written();
    const histogram = metrics.histogram(took, {});
    for (let index = 0; index < 250; index += 1) histogram.observe(index);
    metrics.flush();
    const values = lines.map((line) => line["gateway_took_seconds"] as number[]);
    expect(values.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(values.flat()).toEqual(Array.from({ length: 250 }, (_, index) => index));
  });

  it("keeps no more series than it may, whatever names there are", () => {
    const { metrics, lines } = written();
    for (let index = 0; index < 1_500; index += 1) {
      metrics.counter(refused, { reason: `r${index}` }).add(1);
    }
    metrics.flush();
    expect(lines).toHaveLength(1_000);
  });
});

function written() {
  const lines: Record<string, unknown>[] = [];
  const metrics = embeddedMetrics({ unixMs: () => 1_000 }, "control", (line) => {
    lines.push(JSON.parse(line) as Record<string, unknown>);
  });
  return { metrics, lines };
}
