/** A script's form: its use, its source with the lines that do not compile, and an example to try it on. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { ApiError } from "../api/client.ts";
import type { ScriptAnswer } from "../api/shapes.ts";
import type { LineMark } from "../editor/marks.ts";
import { useMay } from "../shell/me.ts";
import { textAt } from "../tool/json.ts";
import { Select } from "../ui/field.tsx";
import { Loading } from "../ui/state.tsx";
import type { FormEdit } from "../write/objectEditor.tsx";
import { exampleOf, useOf, uses } from "./examples.ts";
import { compileQuery, failureText, testScript, type ScriptAsked } from "./scriptTest.ts";
import { TryOut } from "./tryOut.tsx";

const ScriptEditor = lazy(async () => ({
  default: (await import("./scriptEditor.tsx")).ScriptEditor,
}));

/** After a pause of typing it is compiled. */
const quietMs = 500;

export function ScriptForm({ edit }: { readonly edit: FormEdit }) {
  const { value, onChange, readOnly } = edit;
  const use = textAt(value, "use");
  const source = textAt(value, "source");
  const operator = useMay("operator");
  const [example, setExample] = useState(() => exampleOf(use));
  const compiled = useCompiled(use, source, operator);
  const run = useMutation({ mutationFn: (asked: ScriptAsked) => testScript(asked) });
  const ran = run.data !== undefined && run.variables?.source === source ? run.data : undefined;
  const marks = useMemo(() => marksOf(compiled, ran), [compiled, ran]);
  const start = (text: string): void => {
    const { query, beside } = example;
    if (query === undefined || !operator) return;
    run.mutate({ use, source: text, query, ...(beside === undefined ? {} : { beside }) });
  };
  return (
    <>
      <Select
        label="Use"
        value={use}
        options={Object.entries(uses).map(([name, { title }]) => ({
          value: name,
          title: `${name} – ${title}`,
          disabled: readOnly,
        }))}
        hint={`It answers ${useOf(use)?.answers ?? "what its use asks"}.`}
        onChange={(next) => {
          onChange({ ...value, use: next, source: sourceFor(next, use, source) });
          setExample(exampleOf(next));
        }}
      />
      <Suspense fallback={<Loading what="Loading the editor" />}>
        <ScriptEditor
          value={source}
          readOnly={readOnly}
          marks={marks}
          onChange={(text) => onChange({ ...value, source: text })}
          onRun={start}
        />
      </Suspense>
      {operator ? <Compiled answer={compiled} /> : null}
      {operator ? (
        <TryOut
          key={use}
          use={use}
          example={example}
          onExample={setExample}
          onRun={() => start(source)}
          busy={run.isPending}
          error={run.error}
          answer={ran}
        />
      ) : null}
    </>
  );
}

/** What was not touched is replaced by what the new use begins with. */
function sourceFor(next: string, before: string, source: string): string {
  const untouched = source.trim() === "" || source === useOf(before)?.source;
  return untouched ? (useOf(next)?.source ?? source) : source;
}

/** What the newest source that was looked at comes to; undefined while it is looked at or nobody can. */
function useCompiled(use: string, source: string, enabled: boolean): ScriptAnswer | undefined {
  const [quiet, setQuiet] = useState({ use, source });
  useEffect(() => {
    const timer = setTimeout(() => setQuiet({ use, source }), quietMs);
    return () => clearTimeout(timer);
  }, [use, source]);
  const query = useQuery({ ...compileQuery(quiet.use, quiet.source), enabled });
  if (query.error instanceof ApiError && query.error.status === 501) {
    return { answered: false, reason: "notHere", detail: query.error.message };
  }
  return quiet.source === source && quiet.use === use ? query.data : undefined;
}

function Compiled({ answer }: { readonly answer: ScriptAnswer | undefined }) {
  if (answer === undefined) {
    return (
      <p className="muted small" role="status">
        Looking at it …
      </p>
    );
  }
  if (!answer.answered && answer.reason === "notHere") {
    return <div className="note warn">{answer.detail}</div>;
  }
  if (answer.answered || answer.reason !== "compile") {
    return (
      <p className="muted small" role="status">
        It compiles.
      </p>
    );
  }
  return (
    <div className="note bad" role="alert">
      <strong>It does not compile.</strong> <code>{failureText(answer)}</code>
    </div>
  );
}

/** Where it does not compile, or where a run failed: that it fails on a plain query says nothing yet. */
function marksOf(
  compiled: ScriptAnswer | undefined,
  ran: ScriptAnswer | undefined,
): readonly LineMark[] {
  const failed = doesNotCompile(compiled) ? compiled : ran;
  if (failed?.answered !== false || failed.line === undefined) return [];
  return [{ line: failed.line, text: failed.detail }];
}

function doesNotCompile(answer: ScriptAnswer | undefined): boolean {
  return answer?.answered === false && answer.reason === "compile";
}
