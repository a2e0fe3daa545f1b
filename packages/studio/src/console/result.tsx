/** What a run has come to so far: its state, its rows, its error. */
import type { RunCell } from "@gateway/contract/studioApi.ts";
import { Link } from "@tanstack/react-router";
import { memo, useState } from "react";
import { countText, durationText } from "../tool/format.ts";
import { State } from "../ui/badge.tsx";
import { Card } from "../ui/page.tsx";
import { Empty } from "../ui/state.tsx";
import { Pages } from "../ui/table.tsx";
import type { RunColumn, RunState } from "./events.ts";

export function Result({ state }: { readonly state: RunState }) {
  const { id, error, notices, columns, rows } = state;
  return (
    <Card
      title="Result"
      actions={
        <>
          <span className="muted" role="status">
            {said(state)}
          </span>
          {id === undefined ? null : (
            <Link to="/queries/$id" params={{ id }}>
              Why it went there
            </Link>
          )}
        </>
      }
      flush
    >
      {error === undefined ? null : (
        <div className="body">
          <div className="note bad" role="alert">
            <code>{error.code}</code> {error.message}
            {error.position === undefined ? null : ` (at character ${countText(error.position)})`}
            {error.hint === undefined ? null : <div>{error.hint}</div>}
          </div>
        </div>
      )}
      {notices.length === 0 ? null : (
        <div className="body">
          <ul className="note">
            {notices.map((notice) => (
              <li key={notice}>{notice}</li>
            ))}
          </ul>
        </div>
      )}
      {columns.length > 0 ? <Grid columns={columns} rows={rows} /> : <Nothing state={state} />}
    </Card>
  );
}

function Nothing({ state }: { readonly state: RunState }) {
  if (state.kind === "waiting" || state.kind === "running") {
    return (
      <div className="loading">
        <State name={state.kind === "running" ? "running" : "queued"} />
      </div>
    );
  }
  if (state.kind !== "done") return null;
  return <Empty title="Done">{state.done?.updateType ?? "The statement"} has no rows.</Empty>;
}

const cuts = { rows: "more rows", bytes: "more bytes", values: "long values" };

function said({ kind, position, done, rows }: RunState): string {
  if (kind === "waiting")
    return position === undefined ? "Waiting" : `Waiting, place ${countText(position)}`;
  if (kind === "running") return `Running, ${countText(rows.length)} rows`;
  if (kind === "stopped") return `Stopped after ${countText(rows.length)} rows`;
  if (done === undefined) return "Failed";
  const cut =
    done.cut.length === 0 ? "" : `, cut: ${done.cut.map((each) => cuts[each]).join(", ")}`;
  const count = done.updateCount === undefined ? done.rows : done.updateCount;
  return `${countText(count)} ${count === 1 ? "row" : "rows"}${cut}, waited ${durationText(done.queueMs)}, ran ${durationText(done.executionMs)}`;
}

const rowsOfPage = 200;

const Grid = memo(function Grid(props: {
  readonly columns: readonly RunColumn[];
  readonly rows: readonly (readonly RunCell[])[];
}) {
  const { columns, rows } = props;
  const [asked, setPage] = useState(0);
  const page = Math.min(asked, Math.max(0, Math.ceil(rows.length / rowsOfPage) - 1));
  const from = page * rowsOfPage;
  const shown = rows.slice(from, from + rowsOfPage);
  return (
    <>
      <div className="grid-result" tabIndex={0} role="region" aria-label="Rows">
        <table>
          <caption className="hidden-text">Rows of the result</caption>
          <thead>
            <tr>
              {columns.map(({ name, type }, at) => (
                <th key={`${at} ${name}`} scope="col" title={type}>
                  {name} <span className="muted small">{type}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, at) => (
              <tr key={from + at}>
                {columns.map(({ name }, column) => (
                  <td key={`${column} ${name}`}>
                    <Cell value={row[column] ?? null} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length <= rowsOfPage ? null : (
        <Pages
          text={`${countText(from + 1)} to ${countText(from + shown.length)} of ${countText(rows.length)}`}
          before={page > 0 ? () => setPage(page - 1) : undefined}
          after={from + rowsOfPage < rows.length ? () => setPage(page + 1) : undefined}
        />
      )}
    </>
  );
});

function Cell({ value }: { readonly value: RunCell }) {
  if (value === null) return <span className="muted">null</span>;
  return <>{String(value)}</>;
}
