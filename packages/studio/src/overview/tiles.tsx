/** The figures that an operator looks at first. */
import type { Live, Overview, OverviewPoint } from "@gateway/contract/studioApi.ts";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { countText, durationText, shortCount } from "../tool/format.ts";

export function Tiles(props: { readonly live: Live; readonly overview: Overview | undefined }) {
  const { counters } = props.live;
  const { overview } = props;
  const last = lastWhole(overview);
  const latency = last?.latency ?? overview?.points.findLast((point) => point.latency)?.latency;
  const counts = totals(overview);
  const bad = counters.workersOffline + counters.workersBehind;
  return (
    <div className="tiles">
      <Tile
        name="Running"
        value={shortCount(counters.running)}
        more={
          overview?.cap === undefined ? (
            <Link to="/queries">Show them</Link>
          ) : (
            `of ${countText(overview.cap)} that may`
          )
        }
      />
      <Tile name="Waiting" value={shortCount(counters.queued)} more="for a place" />
      <Tile
        name="Queries per second"
        value={last === undefined ? "0" : shortCount(last.perSecond)}
        more={`${shortCount(counts.all)} in this time`}
      />
      <Tile
        name="Latency, median"
        value={latency === undefined ? "–" : durationText(latency.p50)}
        more={latency === undefined ? "no query ended" : `p95 ${durationText(latency.p95)}`}
      />
      <Tile
        name="Failed"
        value={counts.all === 0 ? "0 %" : percentText(counts.failed / counts.all)}
        more={
          <Link
            to="/queries/history"
            search={{ status: "failed" }}
          >{`${shortCount(counts.failed)} queries`}</Link>
        }
        bad={counts.failed > 0 && counts.failed / counts.all > 0.05}
      />
      <Tile
        name="Workers"
        value={shortCount(counters.workersOnline)}
        more={
          bad > 0 ? troubles(counters) : counters.workersOnline === 0 ? "none" : "all up to date"
        }
        bad={counters.workersOffline > 0}
      />
    </div>
  );
}

function troubles(counters: Live["counters"]): string {
  const { workersOffline, workersBehind } = counters;
  return [
    workersOffline > 0 ? `${countText(workersOffline)} offline` : "",
    workersBehind > 0 ? `${countText(workersBehind)} behind` : "",
  ]
    .filter(Boolean)
    .join(", ");
}

function Tile(props: {
  readonly name: string;
  readonly value: string;
  readonly more: ReactNode;
  readonly bad?: boolean;
}) {
  const { name, value, more, bad = false } = props;
  return (
    <div className={bad ? "card tile bad" : "card tile"}>
      <span className="name">{name}</span>
      <span className="value">{value}</span>
      <span className="more">{more}</span>
    </div>
  );
}

/** The newest step that has ended: the last one has only begun, and would look like a fall. */
function lastWhole(overview: Overview | undefined): OverviewPoint | undefined {
  return overview?.points.at(-2) ?? overview?.points.at(-1);
}

function totals(overview: Overview | undefined): { readonly all: number; readonly failed: number } {
  let all = 0;
  let failed = 0;
  for (const { statuses } of overview?.points ?? []) {
    all += statuses.finished + statuses.failed + statuses.cancelled + statuses.denied;
    failed += statuses.failed;
  }
  return { all, failed };
}

function percentText(share: number): string {
  return `${(share * 100).toLocaleString(undefined, { maximumFractionDigits: 1 })} %`;
}
