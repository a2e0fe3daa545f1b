/** One setting as a form of its schema; as JSON where the API serves none. */
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useCallback } from "react";
import { DryRun } from "../write/dryRun.tsx";
import { step } from "../api/client.ts";
import { objectsQuery, schemasQuery } from "../api/queries.ts";
import { emptyOf, textAt, type Schema } from "../form/schema.ts";
import { useMay } from "../shell/me.ts";
import { isObject, type Path } from "../tool/json.ts";
import { Card, PageHead } from "../ui/page.tsx";
import { Loaded } from "../ui/state.tsx";
import { DeleteButton } from "../write/deleteButton.tsx";
import { DeletedNote } from "../write/deletedNote.tsx";
import { ObjectEditor } from "../write/objectEditor.tsx";
import { accessSettings } from "../write/settingsTable.tsx";
import { useObject } from "../write/useObject.ts";

/** How the API begins the paths of a setting: each stands under a root key of its name, but one. */
const prefixes: Readonly<Record<string, string>> = { history: "gateway.workerApi.history." };

export function SettingPage() {
  const name = useParams({ strict: false, select: (params) => params.name ?? "" });
  const navigate = useNavigate();
  const path = `/settings/${step(name)}` as const;
  const setting = useObject(path);
  const schemas = useQuery(schemasQuery);
  const groups = useQuery(objectsQuery("groups"));
  const suggest = useCallback(
    (_schema: Schema, at: Path) =>
      at.includes("clusterGroups") ? (groups.data ?? []).map((group) => group.name) : undefined,
    [groups.data],
  );
  const access = accessSettings.has(name);
  const schema = schemas.data?.settings[name];
  const tried = useMay("operator") && name === "accessControl";
  const leave = (): void =>
    void navigate({ to: access ? "/access" : "/settings", ignoreBlocker: true });
  return (
    <>
      <PageHead
        title={textAt(schema ?? {}, "title") ?? name}
        lead={textAt(schema ?? {}, "description")}
        crumbs={access ? <Link to="/access">Access</Link> : <Link to="/settings">Settings</Link>}
        actions={
          setting.data === undefined || setting.data === null ? undefined : (
            <DeleteButton path={path} object={setting.data} what="setting" onDone={leave} />
          )
        }
      />
      <Loaded query={schemas}>
        {() => (
          <Loaded query={setting}>
            {(object) => (
              <Card title={object === null ? "Not set: the defaults hold" : "Configuration"}>
                <div className="stack" key={object === null ? "new" : "known"}>
                  <DeletedNote deleted={setting.deleted} />
                  <ObjectEditor
                    path={path}
                    object={object}
                    empty={emptySetting(schema)}
                    schema={schema}
                    prefix={prefixes[name] ?? `${name}.`}
                    suggest={suggest}
                    onGone={leave}
                    {...(tried
                      ? {
                          below: (draft) => (
                            <DryRun title="Dry run: what may this user see?" draft={draft} />
                          ),
                        }
                      : {})}
                  />
                </div>
              </Card>
            )}
          </Loaded>
        )}
      </Loaded>
    </>
  );
}

function emptySetting(schema: Schema | undefined) {
  const empty = schema === undefined ? {} : emptyOf(schema, schema);
  return isObject(empty) ? empty : {};
}
