/** The stages of one query as a bar in proportion, with their times in words below. */
import type { QueryDetail } from "../api/shapes.ts";
import { durationText } from "../tool/format.ts";
import { State } from "../ui/badge.tsx";
import { Card } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { msOf, timingOf } from "./segments.ts";

const names = { waited: "Waited", ran: "Ran in the engine", rest: "In the gateway and on the way" };
const kinds = ["waited", "ran", "rest"] as const;

export function Timeline({ record }: { readonly record: QueryDetail }) {
  const timing = timingOf(record.timeline);
  if (timing === undefined) return null;
  const { receivedAt, endedAt, segments } = timing;
  return (
    <Card title="Timeline" actions={<State name={record.status} />}>
      <div className="timeline">
        <div className="bar" aria-hidden="true">
          {segments
            .filter(({ ms }) => ms > 0)
            .map(({ kind, ms }, at) => (
              // A kind may come twice; its place is its name.
              <span key={at} className={kind} style={{ flexGrow: ms, flexBasis: 0 }} />
            ))}
        </div>
        <ul className="row apart">
          <li>
            Received <Time at={receivedAt} />
          </li>
          {kinds.map((kind) => {
            const ms = msOf(timing, kind);
            return ms === undefined ? null : (
              <li key={kind}>
                <span className={`key ${kind}`} aria-hidden="true" />
                {names[kind]} <strong className="number">{durationText(ms)}</strong>
              </li>
            );
          })}
          <li>
            Ended <Time at={endedAt} />
          </li>
        </ul>
      </div>
    </Card>
  );
}
