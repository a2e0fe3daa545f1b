/** What access control makes of a statement that nobody runs: under what is saved, or under what is being edited. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../api/client.ts";
import { objectsQuery } from "../api/queries.ts";
import type { AccessAnswer, AccessTable } from "../api/shapes.ts";
import type { JsonObject } from "../tool/json.ts";
import { Tag } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Field, Select, TextInput } from "../ui/field.tsx";
import { Card } from "../ui/page.tsx";
import { Failure } from "../ui/state.tsx";
import { Table } from "../ui/table.tsx";
import { TextDifference } from "../ui/textDifference.tsx";
import { namesOf, pairsOf } from "./typed.ts";

/** Of the text: that of the client that asks. */
const dialects = ["trino", "postgres", "mysql", "duckdb", "clickhouse", "generic"];

interface Question {
  readonly sql: string;
  readonly user: string;
  readonly groups: string;
  readonly roles: string;
  readonly attributes: string;
  readonly group: string;
  readonly dialect: string;
  readonly schema: string;
}

const example: Question = {
  sql: "select * from orders",
  user: "ann",
  groups: "",
  roles: "",
  attributes: "",
  group: "",
  dialect: "postgres",
  schema: "",
};

/** `draft`: the setting as it is edited; absent: the saved one. */
export function PolicyTrial({ draft }: { readonly draft?: JsonObject }) {
  const [question, setQuestion] = useState(example);
  const run = useMutation({
    mutationFn: async () => {
      const body = { ...bodyOf(question), accessControl: draft };
      const answer = await ask<AccessAnswer>("/access-explain", { method: "POST", body });
      return { answer, sql: question.sql };
    },
  });
  return (
    <Card title="Dry run: what may this user see?">
      <div className="stack">
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            run.mutate();
          }}
        >
          <p className="muted">
            {draft === undefined
              ? "Asks the policy that is saved. Nothing is run."
              : "Asks the policy as it stands above, saved or not. Nothing is run."}
          </p>
          <Asked question={question} onChange={setQuestion} busy={run.isPending} />
        </form>
        {run.error === null ? null : <Failure error={run.error} />}
        {run.data === undefined ? null : <Answer {...run.data} />}
      </div>
    </Card>
  );
}

function Asked(props: {
  readonly question: Question;
  readonly onChange: (question: Question) => void;
  readonly busy: boolean;
}) {
  const { question, onChange, busy } = props;
  const groups = useQuery(objectsQuery("groups"));
  const set = (name: keyof Question) => (value: string) => onChange({ ...question, [name]: value });
  const input = (name: keyof Question, label: string, placeholder = "") => (
    <TextInput
      label={label}
      value={question[name]}
      placeholder={placeholder}
      onChange={set(name)}
    />
  );
  const named = (groups.data ?? []).map(({ name }) => ({ value: name, title: name }));
  return (
    <>
      <Field label="SQL of the client">
        {(control) => (
          <textarea
            {...control}
            className="input"
            spellCheck={false}
            value={question.sql}
            onChange={({ target }) => set("sql")(target.value)}
          />
        )}
      </Field>
      <div className="filters">
        {input("user", "User")}
        {input("groups", "User groups", "a, b")}
        {input("roles", "Roles", "a, b")}
        {input("attributes", "Attributes", "region=eu")}
        <Select
          label="Cluster group"
          value={question.group}
          options={[{ value: "", title: "where it is routed" }, ...named]}
          onChange={set("group")}
        />
        <Select
          label="Dialect"
          value={question.dialect}
          options={dialects.map((name) => ({ value: name, title: name }))}
          onChange={set("dialect")}
        />
        {input("schema", "Schema", "public")}
        <Button submit busy={busy}>
          Ask the policy
        </Button>
      </div>
    </>
  );
}

function Answer({ answer, sql }: { readonly answer: AccessAnswer; readonly sql: string }) {
  const { decision, refusal, tables } = answer;
  return (
    <div className="stack" role="status">
      <div className={decision === "allowed" ? "note ok" : "note bad"}>
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
    </div>
  );
}

const said: Readonly<Record<AccessAnswer["decision"], string>> = {
  allowed: "It would be allowed.",
  denied: "It would be refused.",
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

function bodyOf({ sql, user, groups, roles, attributes, group, dialect, schema }: Question) {
  return {
    sql,
    user,
    dialect,
    groups: namesOf(groups),
    roles: namesOf(roles),
    attributes: pairsOf(attributes),
    ...(group === "" ? {} : { group }),
    ...(schema === "" ? {} : { schema }),
  };
}
