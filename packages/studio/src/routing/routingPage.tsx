/** The routers in their order, and the group of what no router matched. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { objectsQuery, schemasQuery } from "../api/queries.ts";
import { textAt, type Schema } from "../form/schema.ts";
import { useMay } from "../shell/me.ts";
import { textOf, type Search } from "../shell/search.ts";
import { Card, PageHead } from "../ui/page.tsx";
import { Loaded } from "../ui/state.tsx";
import { DryRun } from "../write/dryRun.tsx";
import { ObjectEditor } from "../write/objectEditor.tsx";
import { useObject } from "../write/useObject.ts";
import { withNewRule } from "./newRule.ts";
import { RoutingForm } from "./routingForm.tsx";

const path = "/routing";
const empty = {};

export function RoutingPage() {
  const routing = useObject(path);
  const schemas = useQuery(schemasQuery);
  const groups = useQuery(objectsQuery("groups"));
  const operator = useMay("operator");
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const target = textOf(search, "group");
  const names = groups.data;
  const suggest = useCallback(
    (schema: Schema) => {
      const title = textAt(schema, "title") ?? "";
      // The schema says so in words: no mark of its own tells a group's name.
      return /\bgroup\b/i.test(title) ? (names ?? []).map(({ name }) => name) : undefined;
    },
    [names],
  );
  return (
    <>
      <PageHead
        title="Routing"
        lead="Rules are asked in their order; the first that matches names the group. What nothing matches goes to the fallback, or to the first group that its user may use."
      />
      <Loaded query={schemas}>
        {({ routing: schema }) => (
          <Loaded query={routing}>
            {(object) => (
              <Card title="Rules">
                <div className="stack" key={object === null ? "new" : "known"}>
                  <ObjectEditor
                    path={path}
                    object={object}
                    empty={empty}
                    schema={schema}
                    prefix=""
                    form={(edit) => (
                      <RoutingForm
                        edit={edit}
                        schema={schema}
                        suggest={suggest}
                        lastOpen={target !== undefined}
                      />
                    )}
                    {...(target === undefined
                      ? {}
                      : {
                          begin: (body) => withNewRule(body, target),
                          // Once: the address that is loaded again begins with what is saved.
                          onSaved: () =>
                            void navigate({ to: "/routing", replace: true, ignoreBlocker: true }),
                        })}
                  />
                </div>
              </Card>
            )}
          </Loaded>
        )}
      </Loaded>
      {operator ? <DryRun title="Dry run: where would this go?" /> : null}
    </>
  );
}
