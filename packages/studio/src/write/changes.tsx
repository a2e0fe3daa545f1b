/** Changes of a document as a table: setting, before, after. */
import { jsonText, pathText, type Change } from "../tool/json.ts";
import { Table } from "../ui/table.tsx";

export function ChangeList(props: {
  readonly caption: string;
  readonly changes: readonly Change[];
}) {
  return (
    <div className="change-list">
      <Table
        caption={props.caption}
        rows={props.changes}
        keyOf={({ path }) => pathText(path)}
        columns={[
          {
            title: "Setting",
            cell: ({ path }) => <code>{path.length === 0 ? "everything" : pathText(path)}</code>,
          },
          { title: "Before", cell: ({ from }) => <Value value={from} side="from" /> },
          { title: "After", cell: ({ to }) => <Value value={to} side="to" /> },
        ]}
      />
    </div>
  );
}

export function Value(props: { readonly value: unknown; readonly side?: "from" | "to" }) {
  const { value, side } = props;
  if (value === undefined) return <span className="muted">not set</span>;
  return <code className={side}>{jsonText(value)}</code>;
}
