/** Settings of the configuration as a list, for the pages that share them. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { objectsQuery, schemasQuery } from "../api/queries.ts";
import { textAt } from "../form/schema.ts";
import { Badge } from "../ui/badge.tsx";
import { Card } from "../ui/page.tsx";
import { Loaded } from "../ui/state.tsx";
import { Table } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";

/** Those that say who may do what stand on a page of their own. */
export const accessSettings: ReadonlySet<string> = new Set([
  "auth",
  "authorization",
  "guardrails",
  "accessControl",
  "catalogProvider",
]);

/** Settings that have a schema here, or a document. */
export function SettingsTable(props: {
  readonly title: string;
  readonly shown: (name: string) => boolean;
}) {
  const schemas = useQuery(schemasQuery);
  const settings = useQuery(objectsQuery("settings"));
  return (
    <Loaded query={schemas}>
      {({ settings: known }) => {
        const documents = new Map((settings.data ?? []).map((each) => [each.name, each]));
        const names = [...new Set([...Object.keys(known), ...documents.keys()])].filter(
          props.shown,
        );
        return (
          <Card title={props.title} flush>
            <Table
              caption={props.title}
              rows={names}
              keyOf={(name) => name}
              columns={[
                {
                  title: "Setting",
                  cell: (name) => (
                    <Link to="/settings/$name" params={{ name }}>
                      {textAt(known[name] ?? {}, "title") ?? name}
                    </Link>
                  ),
                },
                {
                  title: "For",
                  cell: (name) => (
                    <span className="muted">{textAt(known[name] ?? {}, "description") ?? ""}</span>
                  ),
                },
                {
                  title: "State",
                  cell: (name) => {
                    const document = documents.get(name);
                    if (document === undefined) return <Badge tone="neutral">default</Badge>;
                    return (
                      <>
                        set <Ago at={document.updatedAt} />{" "}
                        <span className="muted">by {document.updatedBy}</span>
                      </>
                    );
                  },
                },
              ]}
            />
          </Card>
        );
      }}
    </Loaded>
  );
}
