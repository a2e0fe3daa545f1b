/** One script: its source, whether it compiles, what it answers to an example, and saving it. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { step } from "../api/client.ts";
import { objectsQuery } from "../api/queries.ts";
import type { ConfigObject } from "../api/shapes.ts";
import { Card, PageHead } from "../ui/page.tsx";
import { Empty, Loaded } from "../ui/state.tsx";
import { DeleteButton } from "../write/deleteButton.tsx";
import { DeletedNote } from "../write/deletedNote.tsx";
import { newName, useNaming, type Creation } from "../write/nameField.tsx";
import { ObjectEditor } from "../write/objectEditor.tsx";
import { useObject } from "../write/useObject.ts";
import { uses } from "./examples.ts";
import { ScriptForm } from "./scriptForm.tsx";

export function ScriptPage() {
  const name = useParams({ strict: false, select: (params) => params.name ?? "" });
  return name === newName ? <NewScript /> : <KnownScript key={name} name={name} />;
}

function NewScript() {
  const navigate = useNavigate();
  const scripts = useQuery(objectsQuery("scripts"));
  const taken = (scripts.data ?? []).map((script) => script.name);
  const { name, creation, field } = useNaming("script", taken);
  return (
    <>
      <PageHead title="New script" crumbs={<Link to="/scripts">Scripts</Link>} />
      <Card>
        <div className="stack">
          <div className="form">{field}</div>
          <Editor
            name={name}
            object={null}
            creation={creation}
            onSaved={() =>
              void navigate({ to: "/scripts/$name", params: { name }, ignoreBlocker: true })
            }
          />
        </div>
      </Card>
    </>
  );
}

function KnownScript({ name }: { readonly name: string }) {
  const navigate = useNavigate();
  const path = `/scripts/${step(name)}` as const;
  const script = useObject(path);
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
            <Card title="Script">
              <div className="stack">
                <DeletedNote deleted={script.deleted} />
                <Editor name={name} object={object} onGone={leave} />
              </div>
            </Card>
          )
        }
      </Loaded>
    </>
  );
}

/** A new one is of the first use, with something that runs. */
const empty = { use: "route", source: uses.route.source };

function Editor(props: {
  readonly name: string;
  readonly object: ConfigObject | null;
  readonly creation?: Creation;
  readonly onSaved?: () => void;
  readonly onGone?: () => void;
}) {
  const { name, object, creation, onSaved, onGone } = props;
  return (
    <ObjectEditor
      path={`/scripts/${step(name)}`}
      object={object}
      empty={empty}
      schema={scriptSchema}
      prefix={`scripts.${name}.`}
      form={(edit) => <ScriptForm edit={edit} />}
      {...(creation === undefined ? {} : { creation })}
      {...(onSaved === undefined ? {} : { onSaved })}
      {...(onGone === undefined ? {} : { onGone })}
    />
  );
}

/** The form is this page's own; the editor only asks whether there is one. */
const scriptSchema = {};
