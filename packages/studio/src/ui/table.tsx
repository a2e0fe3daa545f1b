/** Tables: dense, scrolled sideways where the place is narrow, a page of rows at a time. */
import { useState, type ReactNode } from "react";
import { countText } from "../tool/format.ts";
import { Button } from "./button.tsx";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand at the end of their cell. */
  readonly end?: boolean;
  /** Never broken. */
  readonly tight?: boolean;
}

export interface TableProps<Row> {
  /** What the table holds, for a screen reader. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
  return (
    // Can be scrolled with the keyboard, too.
    <div className="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption className="hidden-text">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, end }) => (
              <th key={title} scope="col" className={end === true ? "end" : ""}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, cell, end, tight }) => (
                <td key={title} className={classOf(end, tight)}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classOf(end: boolean | undefined, tight: boolean | undefined): string {
  if (end === true) return "end";
  return tight === true ? "tight" : "";
}

/** Rows of one page where all of them are at hand. */
const rowsMax = 50;

/** The same with pages, for rows that are all at hand. */
export function PagedTable<Row>(props: TableProps<Row>) {
  const { rows } = props;
  const [asked, setPage] = useState(0);
  const page = Math.min(asked, Math.max(0, Math.ceil(rows.length / rowsMax) - 1));
  const shown = rows.slice(page * rowsMax, (page + 1) * rowsMax);
  return (
    <>
      <Table {...props} rows={shown} />
      {rows.length <= rowsMax ? null : (
        <Pages
          text={`${countText(page * rowsMax + 1)} to ${countText(page * rowsMax + shown.length)} of ${countText(rows.length)}`}
          before={page > 0 ? () => setPage(page - 1) : undefined}
          after={(page + 1) * rowsMax < rows.length ? () => setPage(page + 1) : undefined}
        />
      )}
    </>
  );
}

export function Pages(props: {
  readonly text: string;
  /** Undefined at the ends. */
  readonly before: (() => void) | undefined;
  readonly after: (() => void) | undefined;
  readonly busy?: boolean;
}) {
  const { text, before, after, busy = false } = props;
  return (
    <div className="pages">
      <span className="number" role="status">
        {text}
      </span>
      <span className="row">
        <Button small icon="left" disabled={before === undefined} onClick={() => before?.()}>
          Back
        </Button>
        <Button small disabled={after === undefined} busy={busy} onClick={() => after?.()}>
          Next
        </Button>
      </span>
    </div>
  );
}
