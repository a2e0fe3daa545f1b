/** What differs from one revision to another, object by object. */
import type { Difference } from "../api/shapes.ts";
import { State } from "../ui/badge.tsx";
import { Empty } from "../ui/state.tsx";
import { Table } from "../ui/table.tsx";
import { Value } from "../write/changes.tsx";

const kinds: Readonly<Record<string, string>> = {
  cluster: "Cluster",
  clusterGroup: "Group",
  routing: "Routing",
  script: "Script",
  setting: "Setting",
};

export function Differences({ items }: { readonly items: readonly Difference[] }) {
  if (items.length === 0) return <Empty title="No difference">Both have the same content.</Empty>;
  return (
    <div className="stack change-list">
      {items.map((item) => (
        <One key={`${item.object.kind}/${item.object.name}`} difference={item} />
      ))}
    </div>
  );
}

function One({ difference }: { readonly difference: Difference }) {
  const { object, kind, changes } = difference;
  const name = object.kind === "routing" ? "" : ` ${object.name}`;
  const title = `${kinds[object.kind] ?? object.kind}${name}`;
  return (
    <section>
      <h3 className="row">
        {title} <State name={kind} />
      </h3>
      <Table
        caption={`Changes of ${title}`}
        rows={changes}
        keyOf={({ path }) => path}
        columns={[
          {
            title: "Setting",
            cell: ({ path }) => <code>{path === "" ? "everything" : path}</code>,
          },
          {
            title: "Before",
            cell: ({ from, to }) => <Value value={from} side="from" other={to} />,
          },
          { title: "After", cell: ({ from, to }) => <Value value={to} side="to" other={from} /> },
        ]}
      />
    </section>
  );
}
