/** How many workers run under which revision: one line while all agree. */
import type { Worker } from "../api/shapes.ts";
import { countText } from "../tool/format.ts";
import { Badge } from "../ui/badge.tsx";
import { Meter } from "../ui/meter.tsx";
import { Card } from "../ui/page.tsx";
import { Table } from "../ui/table.tsx";
import { hashOf, shortHash } from "./revisionHash.ts";

export function Drift(props: {
  readonly workers: readonly Worker[];
  readonly newest: string | undefined;
}) {
  const { workers, newest } = props;
  const counts = new Map<string, number>();
  for (const { activeRevision } of workers) {
    const hash = activeRevision === undefined ? "" : hashOf(activeRevision);
    counts.set(hash, (counts.get(hash) ?? 0) + 1);
  }
  if (counts.size === 1 && newest !== undefined && counts.has(newest)) {
    return (
      <div className="note ok">
        All {countText(workers.length)} run under the newest revision,{" "}
        <code>{shortHash(newest)}</code>.
      </div>
    );
  }
  const rows = [...counts].toSorted(([, a], [, b]) => b - a);
  return (
    <Card title="Drift by revision" flush>
      <Table
        caption="Workers by revision"
        rows={rows}
        keyOf={([hash]) => hash}
        columns={[
          {
            title: "Revision",
            cell: ([hash]) => (hash === "" ? "none yet" : <code>{shortHash(hash)}</code>),
          },
          {
            title: "Is",
            cell: ([hash]) =>
              hash === newest ? <Badge tone="ok">newest</Badge> : <Badge tone="warn">behind</Badge>,
          },
          {
            title: "Workers",
            end: true,
            cell: ([, count]) => <Meter value={count} max={workers.length} />,
          },
        ]}
      />
    </Card>
  );
}
