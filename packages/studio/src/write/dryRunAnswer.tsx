/** What a dry run came to: the group with the steps that led there, and the decision with what would be sent on. */
import { Link } from "@tanstack/react-router";
import type { AccessAnswer, AccessTable, RouteAnswer } from "../api/shapes.ts";
import { Tag } from "../ui/badge.tsx";
import { Steps } from "../ui/steps.tsx";
import { Table } from "../ui/table.tsx";
import { TextDifference } from "../ui/textDifference.tsx";

export interface Answers {
  /** What was asked of. */
  readonly sql: string;
  /** Absent where the group was said. */
  readonly route?: RouteAnswer;
  /** Absent where this control plane can not read SQL. */
  readonly access?: AccessAnswer;
}

export function Answer({ sql, route, access }: Answers) {
  // What is not routed has no group whose policy could be asked.
  const routed = route === undefined || route.refusal === undefined;
  return (
    <div className="stack" role="status">
      {route === undefined ? null : <Route answer={route} />}
      {access === undefined || !routed ? null : <Access answer={access} sql={sql} />}
    </div>
  );
}

function Route({ answer }: { readonly answer: RouteAnswer }) {
  const { group, refusal, undecided, trace } = answer;
  return (
    <>
      {group === undefined ? null : (
        <div className="note ok">
          It would go to group{" "}
          <Link to="/groups/$name" params={{ name: group }}>
            {group}
          </Link>
          .
        </div>
      )}
      {refusal === undefined ? null : (
        <div className="note bad">
          It would be refused: <code>{refusal.code}</code> {refusal.message}
        </div>
      )}
      {undecided === undefined ? null : (
        <div className="note warn">
          Undecided: the allow lists open {undecided} first, but OpenFGA has a say and was not asked
          here.
        </div>
      )}
      <Steps steps={trace} />
    </>
  );
}

function Access({ answer, sql }: { readonly answer: AccessAnswer; readonly sql: string }) {
  const { decision, refusal, tables } = answer;
  const tone = { allowed: "ok", denied: "bad", unavailable: "bad", uncontrolled: "" }[decision];
  return (
    <>
      <div className={`note ${tone}`}>
        {said[decision]}
        {answer.group === undefined ? null : ` Group ${answer.group}.`}
        {refusal === undefined ? null : (
          <>
            {" "}
            <code>{refusal.code}</code> {refusal.message} {refusal.hint ?? ""}
          </>
        )}
      </div>
      {answer.sql === undefined ? null : (
        <section className="stack" aria-label="What would be sent on">
          <h3>{answer.sql === sql ? "Sent on as it is" : "Sent on instead"}</h3>
          <TextDifference from={sql} to={answer.sql} />
        </section>
      )}
      {tables.length === 0 ? null : <Tables tables={tables} />}
    </>
  );
}

const said: Readonly<Record<AccessAnswer["decision"], string>> = {
  allowed: "Access control would allow it.",
  denied: "Access control would refuse it.",
  unavailable: "Nobody could decide now, so it would be refused for the moment.",
  uncontrolled: "The group is not under access control: it would be sent on as it is.",
};

function Tables({ tables }: { readonly tables: readonly AccessTable[] }) {
  return (
    <Table
      caption="Decisions by table"
      rows={tables}
      keyOf={({ table, action }) => `${action} ${table}`}
      columns={[
        { title: "Table", cell: ({ table }) => <code>{table}</code> },
        { title: "Action", cell: ({ action }) => action },
        { title: "Decision", cell: ({ decision }) => decision },
        { title: "Rule", cell: ({ rule, reason }) => rule ?? reason ?? "–" },
        { title: "Rows", cell: ({ rowFilter }) => <Code text={rowFilter} absent="all" /> },
        { title: "Columns", cell: ({ columns }) => <Columns columns={columns} /> },
      ]}
    />
  );
}

function Columns({ columns }: { readonly columns: AccessTable["columns"] | undefined }) {
  if (columns === undefined) return <span className="muted">all</span>;
  return (
    <span className="row">
      {columns.map(({ name, mask }) => (
        <Tag key={name}>{mask === undefined ? name : `${name}: ${mask}`}</Tag>
      ))}
    </span>
  );
}

function Code({ text, absent }: { readonly text: string | undefined; readonly absent: string }) {
  return text === undefined ? <span className="muted">{absent}</span> : <code>{text}</code>;
}
