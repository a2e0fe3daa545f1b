/** A query as oneself: through a group, or where the routers lead. */
import type { RunTables } from "@gateway/contract/studioApi.ts";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useRef, useState } from "react";
import { ApiError, messageOf } from "../api/client.ts";
import { capabilitiesQuery } from "../api/consoleQueries.ts";
import { objectsQuery } from "../api/queries.ts";
import { write } from "../api/writes.ts";
import { useMay, useMe } from "../shell/me.ts";
import { countText } from "../tool/format.ts";
import { Button } from "../ui/button.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Loaded, Loading } from "../ui/state.tsx";
import { startState, type RunState } from "./events.ts";
import { keep, keptTexts } from "./kept.ts";
import { Result } from "./result.tsx";
import { run } from "./run.ts";

const SqlEditor = lazy(async () => ({ default: (await import("./editor.tsx")).SqlEditor }));

export function ConsolePage() {
  const capabilities = useQuery({ ...capabilitiesQuery, enabled: useMay("operator") });
  const operator = useMay("operator");
  const { name } = useMe();
  return (
    <>
      <PageHead
        title="Console"
        lead={`Runs SQL as ${name}, with everything that routing, access and policies say of this user.`}
      />
      {operator ? (
        <Loaded query={capabilities}>
          {({ run: may }) =>
            may.available ? (
              <Bench maxRows={may.maxRows} writes={may.writes} />
            ) : (
              <Card>
                <Empty title="Queries can not be run here">{may.reason ?? ""}</Empty>
              </Card>
            )
          }
        </Loaded>
      ) : (
        <Card>
          <Empty title="Not with this role">Operators and administrators run queries here.</Empty>
        </Card>
      )}
    </>
  );
}

function Bench(props: { readonly maxRows: number; readonly writes: boolean }) {
  const [text, setText] = useState(() => keptTexts()[0] ?? "");
  const [group, setGroup] = useState("");
  const bench = useRun();
  const groups = useQuery(objectsQuery("groups"));
  const schema = useCompletion(group);
  const start = (explain: boolean, sql = text): void => {
    if (sql.trim() === "") return;
    bench.start({
      sql,
      explain,
      maxRows: Math.min(1_000, props.maxRows),
      ...(group === "" ? {} : { group }),
    });
  };
  return (
    <>
      <Card>
        <div className="stack">
          <Suspense fallback={<Loading what="Loading the editor" />}>
            <SqlEditor
              value={text}
              schema={schema}
              onChange={setText}
              onRun={(typed) => start(false, typed)}
            />
          </Suspense>
          <div className="row">
            <Button kind="primary" icon="play" disabled={bench.busy} onClick={() => start(false)}>
              Run
            </Button>
            <Button disabled={bench.busy} onClick={() => start(true)}>
              Explain
            </Button>
            {bench.busy ? <Button onClick={bench.stop}>Stop</Button> : null}
            <select
              className="select narrow"
              aria-label="Through"
              value={group}
              onChange={({ target }) => setGroup(target.value)}
            >
              <option value="">Where the routers lead</option>
              {(groups.data ?? []).map(({ name }) => (
                <option key={name} value={name}>
                  Group {name}
                </option>
              ))}
            </select>
            <span className="muted small">
              Ctrl Enter runs. {props.writes ? "" : "Statements that may write are refused. "}
              At most {countText(Math.min(1_000, props.maxRows))} rows are shown.
            </span>
          </div>
        </div>
      </Card>
      {bench.refused === undefined ? null : (
        <div className="note bad" role="alert">
          {bench.refused}
        </div>
      )}
      {bench.state === undefined ? null : <Result state={bench.state} />}
      <Kept texts={bench.texts} onTake={setText} />
    </>
  );
}

/** One run at a time. */
function useRun() {
  const [state, setState] = useState<RunState>();
  const [refused, setRefused] = useState<string>();
  const [texts, setTexts] = useState(keptTexts);
  const [busy, setBusy] = useState(false);
  const stopper = useRef<AbortController>(undefined);
  const begin = async (request: Parameters<typeof run>[0]): Promise<void> => {
    const stopped = new AbortController();
    stopper.current = stopped;
    setBusy(true);
    setRefused(undefined);
    setState(startState);
    setTexts(keep(request.sql));
    try {
      await run(request, stopped.signal, setState);
    } catch (error) {
      if (stopped.signal.aborted)
        setState((last) => ({ ...(last ?? startState), kind: "stopped" }));
      else {
        setState(undefined);
        setRefused(error instanceof ApiError ? refusedText(error) : messageOf(error));
      }
    }
    setBusy(false);
  };
  return {
    state,
    refused,
    texts,
    busy,
    start: (request: Parameters<typeof run>[0]) => void begin(request),
    stop: () => stopper.current?.abort(),
  };
}

function refusedText(error: ApiError): string {
  return [error.message, ...error.faults.map(({ path, reason }) => `${path}: ${reason}`)].join(" ");
}

/** Tables and columns for completion; none where they can not be had. */
function useCompletion(group: string) {
  const tables = useQuery({
    queryKey: ["tables", group],
    queryFn: ({ signal }) =>
      write<RunTables>("POST /run-tables", {
        body: group === "" ? {} : { group },
        signal,
      }),
    staleTime: 300_000,
    retry: false,
  });
  return useMemo(() => {
    const schema: Record<string, string[]> = {};
    for (const { name, schema: of, columns } of tables.data?.tables ?? []) {
      const names = columns.map((column) => column.name);
      schema[name] = names;
      schema[`${of}.${name}`] = names;
    }
    return schema;
  }, [tables.data]);
}

function Kept(props: {
  readonly texts: readonly string[];
  readonly onTake: (text: string) => void;
}) {
  if (props.texts.length === 0) return null;
  return (
    <Card title="Run in this tab">
      <ul className="stack tight">
        {props.texts.map((text) => (
          <li key={text} className="row apart">
            <code className="clip wide">{text}</code>
            <Button small onClick={() => props.onTake(text)}>
              Edit<span className="hidden-text"> {text.slice(0, 80)}</span>
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}
