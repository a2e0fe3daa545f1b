/** The fleet: what each worker is, which revision it runs under, and how far it is behind. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { statusQuery, workersQuery } from "../api/queries.ts";
import type { Worker } from "../api/shapes.ts";
import { textOf, type Search } from "../shell/search.ts";
import { countText } from "../tool/format.ts";
import { Badge, State, Tag } from "../ui/badge.tsx";
import { Select, TextInput } from "../ui/field.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/state.tsx";
import { PagedTable, type Column } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";
import { Drift } from "./drift.tsx";
import { hashOf, newestHash, shortHash } from "./revisionHash.ts";
import { Suspects } from "./suspects.tsx";

export function WorkersPage() {
  const workers = useQuery(workersQuery);
  const status = useQuery(statusQuery);
  const newest = newestHash(status.data?.revision);
  return (
    <>
      <PageHead
        title="Workers"
        lead="Processes that registered here, as they reported with their last heartbeat."
      />
      <Loaded query={workers}>
        {(items) =>
          items.length === 0 ? (
            <Card>
              <Empty title="No worker">
                {status.data?.workerApi === false
                  ? "This control plane serves no workers: gateway.workerApi is not configured."
                  : "A worker appears here when it registers with the fleet secret."}
              </Empty>
            </Card>
          ) : (
            <>
              <Drift workers={items} newest={newest} />
              <Fleet workers={items} newest={newest} />
            </>
          )
        }
      </Loaded>
      <Suspects />
    </>
  );
}

function Fleet(props: {
  readonly workers: readonly Worker[];
  readonly newest: string | undefined;
}) {
  const navigate = useNavigate();
  const search: Search = useSearch({ strict: false });
  const text = textOf(search, "text") ?? "";
  const state = textOf(search, "state") ?? "";
  const set = (more: Record<string, string>): void => {
    const next = { text, state, ...more };
    const kept = Object.entries(next).filter(([, value]) => value !== "");
    void navigate({ to: "/workers", search: Object.fromEntries(kept), replace: true });
  };
  const states = [...new Set(props.workers.map(({ status }) => status))].toSorted();
  const shown = props.workers.filter(
    (worker) => (state === "" || worker.status === state) && matches(worker, text.toLowerCase()),
  );
  return (
    <>
      <div className="filters">
        <TextInput
          label="Name or label"
          type="search"
          value={text}
          onChange={(value) => set({ text: value })}
        />
        <Select
          label="State"
          value={state}
          options={[
            { value: "", title: "Any" },
            ...states.map((each) => ({ value: each, title: each })),
          ]}
          onChange={(value) => set({ state: value })}
        />
      </div>
      <Card title={`${countText(shown.length)} of ${countText(props.workers.length)}`} flush>
        {shown.length === 0 ? (
          <Empty title="No worker matches" />
        ) : (
          <PagedTable
            caption="Workers"
            rows={shown}
            keyOf={({ instanceId }) => instanceId}
            columns={columnsFor(props.newest)}
          />
        )}
      </Card>
    </>
  );
}

function matches({ name, labels, version }: Worker, text: string): boolean {
  if (text === "") return true;
  const all = [name, version, ...Object.entries(labels).map((entry) => entry.join(": "))];
  return all.some((each) => each.toLowerCase().includes(text));
}

function columnsFor(newest: string | undefined): readonly Column<Worker>[] {
  return [
    {
      title: "Worker",
      cell: ({ name, instanceId }) => (
        <Link to="/workers/$instanceId" params={{ instanceId }}>
          {name}
        </Link>
      ),
    },
    { title: "State", cell: (worker) => <StateOf worker={worker} />, tight: true },
    {
      title: "Runs under",
      cell: ({ activeRevision }) => <RevisionOf revision={activeRevision} newest={newest} />,
      tight: true,
    },
    { title: "From", cell: ({ configSource }) => sourceText(configSource) },
    { title: "Version", cell: ({ version }) => version },
    {
      title: "Labels",
      cell: ({ labels }) => (
        <span className="row">
          {Object.entries(labels).map(([name, value]) => (
            <Tag key={name}>{`${name}: ${value}`}</Tag>
          ))}
        </span>
      ),
    },
    { title: "Queries", cell: ({ queryCount }) => countText(queryCount), end: true },
    { title: "Heard", cell: ({ lastSeenAt }) => <Ago at={lastSeenAt} />, end: true },
  ];
}

function StateOf({ worker }: { readonly worker: Worker }) {
  return (
    <>
      <State name={worker.status} />
      {worker.lastError === undefined ? null : (
        <span className="clip small muted" title={worker.lastError}>
          {worker.lastError}
        </span>
      )}
    </>
  );
}

export function RevisionOf(props: {
  readonly revision: string | undefined;
  readonly newest: string | undefined;
}) {
  const { revision, newest } = props;
  if (revision === undefined) return <Badge tone="warn">none yet</Badge>;
  return (
    <span className="row">
      <code>{shortHash(revision)}</code>
      {newest === undefined ? null : hashOf(revision) === newest ? (
        <Badge tone="ok">newest</Badge>
      ) : (
        <Badge tone="warn">behind</Badge>
      )}
    </span>
  );
}

const sources = { controlPlane: "control plane", disk: "its own disk", peer: "another worker" };

export function sourceText(source: Worker["configSource"]): string {
  return source === undefined ? "–" : sources[source];
}
