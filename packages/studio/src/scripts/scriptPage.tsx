/** One script: its source, whether it compiles, what it answers to an example, and saving it. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { step } from "../api/client.ts";
import { objectQuery, objectsQuery } from "../api/queries.ts";
import type { ConfigObject } from "../api/shapes.ts";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/state.tsx";
import { DeleteButton } from "../write/deleteButton.tsx";
import { NameField, newName } from "../write/nameField.tsx";
import { ObjectEditor } from "../write/objectEditor.tsx";
import { uses } from "./examples.ts";
import { ScriptForm } from "./scriptForm.tsx";

export function ScriptPage() {
  const name = useParams({ strict: false, select: (params) => params.name ?? "" });
  return name === newName ? <NewScript /> : <KnownScript key={name} name={name} />;
}

function NewScript() {
  const navigate = useNavigate();
  const scripts = useQuery(objectsQuery("scripts"));
  const [name, setName] = useState<string>();
  return (
    <>
      <PageHead title="New script" crumbs={<Link to="/scripts">Scripts</Link>} />
      {name === undefined ? (
        <NameField
          what="script"
          taken={(scripts.data ?? []).map((script) => script.name)}
          onName={setName}
        />
      ) : (
        <Editor
          title={name}
          name={name}
          object={null}
          onSaved={() =>
            void navigate({ to: "/scripts/$name", params: { name }, ignoreBlocker: true })
          }
        />
      )}
    </>
  );
}

function KnownScript({ name }: { readonly name: string }) {
  const navigate = useNavigate();
  const path = `/scripts/${step(name)}`;
  const script = useQuery({ ...objectQuery(path), refetchInterval: 10_000 });
  const leave = (): void => void navigate({ to: "/scripts", ignoreBlocker: true });
  return (
    <>
      <PageHead
        title={name}
        crumbs={<Link to="/scripts">Scripts</Link>}
        actions={
          script.data === undefined || script.data === null ? undefined : (
            <DeleteButton path={path} object={script.data} what="script" onDone={leave} />
          )
        }
      />
      <Loaded query={script}>
        {(object) =>
          object === null ? (
            <Card>
              <Empty
                title="There is no such script"
                action={<Link to="/scripts">All scripts</Link>}
              />
            </Card>
          ) : (
            <Editor title="Script" name={name} object={object} onGone={leave} />
          )
        }
      </Loaded>
    </>
  );
}

/** A new one is of the first use, with something that runs. */
const empty = { use: "route", source: uses.route.source };

function Editor(props: {
  readonly title: string;
  readonly name: string;
  readonly object: ConfigObject | null;
  readonly onSaved?: () => void;
  readonly onGone?: () => void;
}) {
  const { title, name, object, onSaved, onGone } = props;
  return (
    <Card title={title}>
      <div className="stack">
        <ObjectEditor
          path={`/scripts/${step(name)}`}
          object={object}
          empty={empty}
          schema={scriptSchema}
          prefix={`scripts.${name}.`}
          form={(edit) => <ScriptForm edit={edit} />}
          {...(onSaved === undefined ? {} : { onSaved })}
          {...(onGone === undefined ? {} : { onGone })}
        />
      </div>
    </Card>
  );
}

/** The form is this page's own; the editor only asks whether there is one. */
const scriptSchema = {};
