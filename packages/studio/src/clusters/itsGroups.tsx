/** The groups that a cluster is a member of, and the way to a rule that leads there. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { objectsQuery } from "../api/queries.ts";
import { useMay } from "../shell/me.ts";
import { Card } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/state.tsx";
import { Table } from "../ui/table.tsx";
import { membersOf } from "../write/members.ts";

export function ItsGroups({ cluster }: { readonly cluster: string }) {
  const groups = useQuery(objectsQuery("groups"));
  return (
    <Card title="Groups" flush>
      <Loaded query={groups}>
        {(all) => (
          <Groups
            names={all
              .filter(({ body }) => membersOf(body).includes(cluster))
              .map(({ name }) => name)}
          />
        )}
      </Loaded>
    </Card>
  );
}

function Groups({ names }: { readonly names: readonly string[] }) {
  const admin = useMay("admin");
  if (names.length === 0) {
    return (
      <Empty title="No group has it" action={<Link to="/groups">All groups</Link>}>
        So no query goes there.
      </Empty>
    );
  }
  return (
    <Table
      caption="Groups that have this cluster"
      rows={names}
      keyOf={(name) => name}
      columns={[
        {
          title: "Group",
          cell: (name) => (
            <Link to="/groups/$name" params={{ name }}>
              {name}
            </Link>
          ),
        },
        {
          title: "Rules",
          end: true,
          cell: (name) =>
            admin ? (
              <Link to="/routing" search={{ group: name }}>
                Add a rule that leads to {name}
              </Link>
            ) : (
              <Link to="/routing">All rules</Link>
            ),
        },
      ]}
    />
  );
}
