/** Clusters: what they are, how they are, how full. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { liveQuery } from "../api/live.ts";
import { objectsQuery } from "../api/queries.ts";
import type { ConfigObject } from "../api/shapes.ts";
import { useMay } from "../shell/me.ts";
import { textAt } from "../tool/json.ts";
import { Badge, Health } from "../ui/badge.tsx";
import { Meter } from "../ui/meter.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/state.tsx";
import { PagedTable } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";
import { newName } from "../write/nameField.tsx";

export function ClustersPage() {
  const clusters = useQuery(objectsQuery("clusters"));
  const admin = useMay("admin");
  const add = (
    <Link className="button primary" to="/clusters/$name" params={{ name: newName }}>
      Add a cluster
    </Link>
  );
  return (
    <>
      <PageHead
        title="Clusters"
        lead="Engines that queries can go to. A group says which of them, and how many at once."
        actions={admin ? add : undefined}
      />
      <Loaded query={clusters}>
        {(items) =>
          items.length === 0 ? (
            <Card>
              <Empty title="No cluster yet">Queries need at least one, in a group.</Empty>
            </Card>
          ) : (
            <Clusters items={items} />
          )
        }
      </Loaded>
    </>
  );
}

function Clusters({ items }: { readonly items: readonly ConfigObject[] }) {
  const live = useQuery(liveQuery);
  const lives = new Map(live.data?.clusters.items.map((cluster) => [cluster.key, cluster]));
  return (
    <Card flush>
      <PagedTable
        caption="Clusters"
        rows={items}
        keyOf={({ name }) => name}
        columns={[
          {
            title: "Cluster",
            cell: ({ name }) => (
              <Link to="/clusters/$name" params={{ name }}>
                {name}
              </Link>
            ),
          },
          { title: "Engine", cell: ({ body }) => textAt(body, "engine") },
          {
            title: "State",
            cell: ({ name, body }) =>
              body["enabled"] === false ? (
                <Badge tone="neutral">disabled</Badge>
              ) : (
                <Health health={lives.get(name)?.health ?? "unknown"} />
              ),
          },
          {
            title: "Running",
            end: true,
            cell: ({ name }) => {
              const one = lives.get(name);
              return one === undefined ? "–" : <Meter value={one.running} max={one.cap} />;
            },
          },
          {
            title: "Changed",
            end: true,
            cell: ({ updatedAt, updatedBy }) => (
              <>
                <Ago at={updatedAt} /> <span className="muted">by {updatedBy}</span>
              </>
            ),
          },
        ]}
      />
    </Card>
  );
}
