/** Time series as charts. The chart library loads with the first of them. */
import type { Overview } from "@gateway/contract/studioApi.ts";
import { lazy, Suspense } from "react";
import { durationText, shortCount } from "../tool/format.ts";
import { Card } from "../ui/page.tsx";
import { Empty } from "../ui/state.tsx";
import type { Line } from "../ui/chart.tsx";

const Chart = lazy(async () => ({ default: (await import("../ui/chart.tsx")).Chart }));

export function Series({ overview }: { readonly overview: Overview }) {
  const { points } = overview;
  const empty = points.every(
    ({ statuses }) =>
      statuses.finished + statuses.failed + statuses.cancelled + statuses.denied === 0,
  );
  if (empty) {
    return (
      <Card title="Traffic">
        <Empty title="No query in this time">Charts appear with the first one.</Empty>
      </Card>
    );
  }
  const at = points.map((point) => point.at / 1_000);
  return (
    <div className="charts">
      <Panel title="Queries per second" at={at} text={shortCount} lines={ratesOf(overview)} />
      <Panel title="Latency" at={at} text={durationText} lines={latenciesOf(overview)} />
      <Panel title="Running and waiting" at={at} text={shortCount} lines={loadOf(overview)} />
    </div>
  );
}

function ratesOf({ points, stepMs }: Overview): readonly Line[] {
  const failed = points.map(({ statuses }) => (statuses.failed * 1_000) / stepMs);
  return [
    { title: "All", colour: "--line-1", filled: true, values: points.map((one) => one.perSecond) },
    { title: "Failed", colour: "--line-3", values: failed },
  ];
}

function latenciesOf({ points }: Overview): readonly Line[] {
  const of = (name: "p50" | "p95" | "p99") => points.map(({ latency }) => latency?.[name] ?? null);
  return [
    { title: "p50", colour: "--line-1", values: of("p50") },
    { title: "p95", colour: "--line-2", values: of("p95") },
    { title: "p99", colour: "--line-3", values: of("p99") },
  ];
}

function loadOf({ points, cap }: Overview): readonly Line[] {
  const caps = points.map(() => cap ?? null);
  return [
    {
      title: "Running",
      colour: "--line-1",
      filled: true,
      values: points.map((one) => one.runningMean),
    },
    { title: "Waiting", colour: "--line-2", values: points.map((one) => one.queuedMean) },
    ...(cap === undefined
      ? []
      : [{ title: "Cap", colour: "--line-4", values: caps, dashed: true }]),
  ];
}

function Panel(props: {
  readonly title: string;
  readonly at: readonly number[];
  readonly lines: readonly Line[];
  readonly text: (value: number) => string;
}) {
  const { title, at, lines, text } = props;
  return (
    <Card title={title} flush>
      <Suspense fallback={<div className="chart" aria-busy="true" />}>
        <Chart title={title} at={at} lines={lines} text={text} />
      </Suspense>
    </Card>
  );
}
