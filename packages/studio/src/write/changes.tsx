/** Changes of a document as a table: setting, before, after. */
import { jsonText, pathText, type Change } from "../tool/json.ts";
import { Table } from "../ui/table.tsx";
import { TextDifference } from "../ui/textDifference.tsx";

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
          {
            title: "Before",
            cell: ({ from, to }) => <Value value={from} side="from" other={to} />,
          },
          { title: "After", cell: ({ from, to }) => <Value value={to} side="to" other={from} /> },
        ]}
      />
    </div>
  );
}

/** A text of several lines is shown as one, with what differs from the other side marked. */
export function Value(props: {
  readonly value: unknown;
  readonly side?: "from" | "to";
  readonly other?: unknown;
}) {
  const { value, side, other } = props;
  if (value === undefined) return <span className="muted">not set</span>;
  if (side !== undefined && isLong(value)) {
    if (typeof other !== "string") return <pre className="sql">{value}</pre>;
    const [from, to] = side === "from" ? [value, other] : [other, value];
    return <TextDifference from={from} to={to} side={side} />;
  }
  return <code className={side}>{jsonText(value)}</code>;
}

function isLong(value: unknown): value is string {
  return typeof value === "string" && value.includes("\n");
}
