/** Where a query would go and whether it may, without running it: the configuration that serves now is asked. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ask } from "../api/client.ts";
import { statusQuery } from "../api/queries.ts";
import type { RouteAnswer } from "../api/shapes.ts";
import { Button } from "../ui/button.tsx";
import { Field, Select, TextInput } from "../ui/field.tsx";
import { Card } from "../ui/page.tsx";
import { Failure } from "../ui/state.tsx";
import { Steps } from "../ui/steps.tsx";
import { namesOf, pairsOf } from "./typed.ts";

const frontends = [
  "trinoHttp",
  "postgresWire",
  "mysqlWire",
  "flightSql",
  "snowflakeHttp",
  "clickhouseHttp",
  "mcp",
];

interface Question {
  readonly sql: string;
  readonly user: string;
  readonly groups: string;
  readonly frontend: string;
  readonly tags: string;
  readonly headers: string;
}

const example: Question = {
  sql: "select 42",
  user: "ann",
  groups: "",
  frontend: "trinoHttp",
  tags: "",
  headers: "",
};

export function DryRun({ title }: { readonly title: string }) {
  const [question, setQuestion] = useState(example);
  const status = useQuery(statusQuery);
  const run = useMutation({
    mutationFn: () =>
      ask<RouteAnswer>("/route-explain", { method: "POST", body: bodyOf(question) }),
  });
  const set = (name: keyof Question) => (value: string) =>
    setQuestion({ ...question, [name]: value });
  const input = (name: keyof Question, label: string, placeholder = "") => (
    <TextInput
      label={label}
      value={question[name]}
      placeholder={placeholder}
      onChange={set(name)}
    />
  );
  return (
    <Card title={title}>
      <div className="stack">
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            run.mutate();
          }}
        >
          <p className="muted">
            Asks the configuration that is saved. Nothing is run.
            {status.data?.fresh.problem === undefined ? "" : " It may be old at this moment."}
          </p>
          <Field label="SQL">
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
            <Select
              label="Frontend"
              value={question.frontend}
              options={frontends.map((name) => ({ value: name, title: name }))}
              onChange={set("frontend")}
            />
            {input("tags", "Tags", "team=data")}
            {input("headers", "Headers", "X-Trino-Source=airflow")}
            <Button submit busy={run.isPending}>
              Ask
            </Button>
          </div>
        </form>
        {run.error === null ? null : <Failure error={run.error} />}
        {run.data === undefined ? null : <Answer answer={run.data} />}
      </div>
    </Card>
  );
}

function Answer({ answer }: { readonly answer: RouteAnswer }) {
  const { group, refusal, undecided, trace } = answer;
  return (
    <div className="stack" role="status">
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
    </div>
  );
}

function bodyOf({ sql, user, groups, frontend, tags, headers }: Question) {
  return {
    sql,
    user,
    frontend,
    groups: namesOf(groups),
    tags: pairsOf(tags),
    headers: pairsOf(headers),
  };
}
