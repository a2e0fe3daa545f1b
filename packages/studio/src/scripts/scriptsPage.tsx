/** Scripts: which question each answers, and who asks it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { objectQuery, objectsQuery } from "../api/queries.ts";
import type { ConfigObject } from "../api/shapes.ts";
import { useMay } from "../shell/me.ts";
import { textAt } from "../tool/json.ts";
import { Badge, Tag } from "../ui/badge.tsx";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/state.tsx";
import { PagedTable } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";
import { newName } from "../write/nameField.tsx";
import { askedBy, type Place } from "./askedBy.ts";
import { useOf } from "./examples.ts";

export function ScriptsPage() {
  const scripts = useQuery(objectsQuery("scripts"));
  const admin = useMay("admin");
  return (
    <>
      <PageHead
        title="Scripts"
        lead="JavaScript that answers one question about a query, where a list of rules does not say it."
        actions={
          admin ? (
            <Link className="button primary" to="/scripts/$name" params={{ name: newName }}>
              Add a script
            </Link>
          ) : undefined
        }
      />
      <Loaded query={scripts}>
        {(items) =>
          items.length === 0 ? (
            <Card>
              <Empty title="No script yet">
                Routers, conditions, strategies, guards and rewrites can ask one.
              </Empty>
            </Card>
          ) : (
            <Scripts items={items} />
          )
        }
      </Loaded>
    </>
  );
}

function Scripts({ items }: { readonly items: readonly ConfigObject[] }) {
  const places = usePlaces();
  return (
    <Card flush>
      <PagedTable
        caption="Scripts"
        rows={items}
        keyOf={({ name }) => name}
        columns={[
          {
            title: "Script",
            cell: ({ name }) => (
              <Link to="/scripts/$name" params={{ name }}>
                {name}
              </Link>
            ),
          },
          { title: "Use", cell: ({ body }) => <Use name={textAt(body, "use")} /> },
          {
            title: "Asked by",
            cell: ({ name }) => <AskedBy places={places && askedBy(name, places)} />,
          },
          {
            title: "Lines",
            end: true,
            cell: ({ body }) => textAt(body, "source").trimEnd().split("\n").length,
          },
          {
            title: "Changed",
            end: true,
            cell: ({ updatedAt, updatedBy }) => (
              <>
                <Ago at={updatedAt} /> <span className="muted">by {updatedBy}</span>
              </>
            ),
          },
        ]}
      />
    </Card>
  );
}

function Use({ name }: { readonly name: string }) {
  return (
    <span className="row">
      <Tag>{name}</Tag> <span className="muted">{useOf(name)?.title ?? ""}</span>
    </span>
  );
}

function AskedBy({ places }: { readonly places: readonly Place[] | undefined }) {
  if (places === undefined) return "–";
  if (places.length === 0) return <Badge tone="neutral">nobody</Badge>;
  return (
    <span className="row">
      {places.map(({ title, to }) => (
        <Link key={to} to={to}>
          {title}
        </Link>
      ))}
    </span>
  );
}

/** Every document that can name a script; undefined until all are read. */
function usePlaces(): readonly Place[] | undefined {
  const groups = useQuery(objectsQuery("groups")).data;
  const settings = useQuery(objectsQuery("settings")).data;
  const routing = useQuery(objectQuery("/routing")).data;
  if (groups === undefined || settings === undefined || routing === undefined) return undefined;
  return [
    ...(routing === null ? [] : [{ title: "Routing", to: "/routing", body: routing.body }]),
    ...groups.map(({ name, body }) => ({
      title: `Group ${name}`,
      to: `/groups/${encodeURIComponent(name)}`,
      body,
    })),
    ...settings.map(({ name, body }) => ({
      title: `Setting ${name}`,
      to: `/settings/${encodeURIComponent(name)}`,
      body,
    })),
  ];
}
