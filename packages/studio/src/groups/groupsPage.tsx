/** Groups: where routers send queries, over which clusters, and how full they are. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { liveQuery } from "../api/live.ts";
import { objectsQuery } from "../api/queries.ts";
import type { ConfigObject } from "../api/shapes.ts";
import { useMay } from "../shell/me.ts";
import { isObject } from "../tool/json.ts";
import { countText } from "../tool/format.ts";
import { Badge, Tag } from "../ui/badge.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/state.tsx";
import { PagedTable } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";
import { membersOf } from "../write/members.ts";
import { newName } from "../write/nameField.tsx";

export function GroupsPage() {
  const groups = useQuery(objectsQuery("groups"));
  const admin = useMay("admin");
  return (
    <>
      <PageHead
        title="Groups"
        lead="Where routers send queries: clusters that can stand in for each other, with a cap and a queue."
        actions={
          admin ? (
            <Link className="button primary" to="/groups/$name" params={{ name: newName }}>
              Add a group
            </Link>
          ) : undefined
        }
      />
      <Loaded query={groups}>
        {(items) =>
          items.length === 0 ? (
            <Card>
              <Empty title="No group yet">
                Queries are routed to groups; without one nothing runs.
              </Empty>
            </Card>
          ) : (
            <Groups items={items} />
          )
        }
      </Loaded>
    </>
  );
}

function Groups({ items }: { readonly items: readonly ConfigObject[] }) {
  const live = useQuery(liveQuery);
  const lives = new Map(live.data?.groups.items.map((group) => [group.key, group]));
  return (
    <Card flush>
      <PagedTable
        caption="Groups"
        rows={items}
        keyOf={({ name }) => name}
        columns={[
          {
            title: "Group",
            cell: ({ name, body }) => (
              <span className="row">
                <Link to="/groups/$name" params={{ name }}>
                  {name}
                </Link>
                {body["enabled"] === false ? <Badge tone="neutral">disabled</Badge> : null}
              </span>
            ),
          },
          {
            title: "Members",
            cell: ({ body }) => (
              <span className="row">
                {membersOf(body).map((member) => (
                  <Tag key={member}>{member}</Tag>
                ))}
              </span>
            ),
          },
          { title: "Strategy", cell: ({ body }) => strategyOf(body["strategy"]) },
          {
            title: "Running",
            end: true,
            cell: ({ name }) => countText(lives.get(name)?.running ?? 0),
          },
          {
            title: "Waiting",
            end: true,
            cell: ({ name }) => countText(lives.get(name)?.queued ?? 0),
          },
          {
            title: "Cap of each member",
            end: true,
            cell: ({ body }) => {
              const cap = body["maxRunningQueries"];
              return typeof cap === "number" ? countText(cap) : "–";
            },
          },
          { title: "Changed", end: true, cell: ({ updatedAt }) => <Ago at={updatedAt} /> },
        ]}
      />
    </Card>
  );
}

function strategyOf(strategy: unknown): string {
  const type = isObject(strategy) ? strategy["type"] : undefined;
  return typeof type === "string" ? type : "roundRobin";
}
