/**
 * What would become of a query that nobody runs: where it would go, and what access control makes of it. The configuration
 * that serves now is asked, with a policy that is only typed in place of the saved one where a page has such.
 */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError } from "../api/client.ts";
import { objectsQuery, statusQuery } from "../api/queries.ts";
import type { AccessAnswer, RouteAnswer } from "../api/shapes.ts";
import { write } from "../api/writes.ts";
import type { JsonObject } from "../tool/json.ts";
import { Button } from "../ui/button.tsx";
import { Field, Select, TextInput } from "../ui/field.tsx";
import { Card } from "../ui/page.tsx";
import { Failure } from "../ui/state.tsx";
import { Answer, type Answers } from "./dryRunAnswer.tsx";
import { namesOf, pairsOf } from "./typed.ts";

/** Frontends, and how each reads a text. */
const dialects = {
  trinoHttp: "trino",
  postgresWire: "postgres",
  mysqlWire: "mysql",
  flightSql: "generic",
  snowflakeHttp: "generic",
  clickhouseHttp: "clickhouse",
  mcp: "generic",
};

type Frontend = keyof typeof dialects;

interface Question {
  readonly sql: string;
  readonly user: string;
  readonly groups: string;
  readonly roles: string;
  readonly attributes: string;
  readonly frontend: Frontend;
  readonly tags: string;
  readonly headers: string;
  /** Empty: where it is routed. */
  readonly group: string;
  readonly schema: string;
}

const example: Question = {
  sql: "select 42",
  user: "ann",
  groups: "",
  roles: "",
  attributes: "",
  frontend: "trinoHttp",
  tags: "",
  headers: "",
  group: "",
  schema: "",
};

/** `draft`: access control as it is edited; absent: the saved one. */
export function DryRun(props: { readonly title: string; readonly draft?: JsonObject }) {
  const { title, draft } = props;
  const [question, setQuestion] = useState(example);
  const status = useQuery(statusQuery);
  const run = useMutation({ mutationFn: () => asked(question, draft) });
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
            {draft === undefined
              ? "Asks the configuration that is saved. Nothing is run."
              : "Asks the policy as it stands above, saved or not. Nothing is run."}
            {status.data?.fresh.problem === undefined ? "" : " It may be old at this moment."}
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
          label="Frontend"
          value={question.frontend}
          options={Object.keys(dialects).map((name) => ({ value: name, title: name }))}
          onChange={set("frontend")}
        />
        {input("tags", "Tags", "team=data")}
        {input("headers", "Headers", "X-Trino-Source=airflow")}
        <Select
          label="Cluster group"
          value={question.group}
          options={[{ value: "", title: "where it is routed" }, ...named]}
          onChange={set("group")}
        />
        {input("schema", "Schema", "public")}
        <Button submit kind="primary" busy={busy}>
          Ask
        </Button>
      </div>
    </>
  );
}

async function asked(question: Question, draft: JsonObject | undefined): Promise<Answers> {
  const { sql, group } = question;
  const [route, access] = await Promise.all([
    group === ""
      ? write<RouteAnswer>("POST /route-explain", { body: routeBodyOf(question) })
      : undefined,
    write<AccessAnswer>("POST /access-explain", {
      body: { ...accessBodyOf(question), accessControl: draft },
    }).catch(notHere),
  ]);
  return {
    sql,
    ...(route === undefined ? {} : { route }),
    ...(access === undefined ? {} : { access }),
  };
}

function notHere(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 501) return undefined;
  throw error;
}

function routeBodyOf({ sql, user, groups, roles, frontend, tags, headers }: Question) {
  return {
    sql,
    user,
    frontend,
    groups: namesOf(groups),
    roles: namesOf(roles),
    tags: pairsOf(tags),
    headers: pairsOf(headers),
  };
}

function accessBodyOf(question: Question) {
  const { attributes, frontend, group, schema } = question;
  return {
    ...routeBodyOf(question),
    attributes: pairsOf(attributes),
    dialect: dialects[frontend],
    ...(group === "" ? {} : { group }),
    ...(schema === "" ? {} : { schema }),
  };
}
