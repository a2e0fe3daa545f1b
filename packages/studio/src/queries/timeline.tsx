/** The stages of one query as a bar in proportion, with their times in words below. */
import type { HistoryRecord } from "../api/shapes.ts";
import { durationText } from "../tool/format.ts";
import { State } from "../ui/badge.tsx";
import { Card } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";

export function Timeline({ record }: { readonly record: HistoryRecord }) {
  const { createdAt, finishedAt, queueMs, executionMs, status } = record;
  const allMs = Math.max(finishedAt - createdAt, queueMs + executionMs, 1);
  const restMs = Math.max(0, allMs - queueMs - executionMs);
  const parts = [
    { name: "Waited", kind: "waited", ms: queueMs },
    { name: "Ran in the engine", kind: "ran", ms: executionMs },
    { name: "In the gateway and on the way", kind: "rest", ms: restMs },
  ] as const;
  return (
    <Card title="Timeline" actions={<State name={status} />}>
      <div className="timeline">
        <div className="bar" aria-hidden="true">
          {parts
            .filter(({ ms }) => ms > 0)
            .map(({ kind, ms }) => (
              <span key={kind} className={kind} style={{ flexGrow: ms, flexBasis: 0 }} />
            ))}
        </div>
        <ul className="row apart">
          <li>
            <Time at={createdAt} />
          </li>
          {parts.map(({ name, kind, ms }) => (
            <li key={kind}>
              <span className={`key ${kind}`} aria-hidden="true" />
              {name} <strong className="number">{durationText(ms)}</strong>
            </li>
          ))}
          <li>
            <Time at={finishedAt} />
          </li>
        </ul>
      </div>
    </Card>
  );
}
