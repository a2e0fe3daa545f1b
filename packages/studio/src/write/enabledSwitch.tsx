/** Takes an object out of use and back, with one question: what runs there goes on to its end. */
import { useState } from "react";
import { ApiError } from "../api/client.ts";
import type { ConfigObject } from "../api/shapes.ts";
import { useMay } from "../shell/me.ts";
import { withAt, type JsonObject } from "../tool/json.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { toast } from "../ui/toast.tsx";
import { putObject, type ObjectPath } from "./write.ts";

export function EnabledSwitch(props: {
  readonly path: ObjectPath;
  readonly object: ConfigObject;
  /** `cluster` */
  readonly what: string;
}) {
  const { path, object, what } = props;
  const admin = useMay("admin");
  const [asked, setAsked] = useState(false);
  if (!admin) return null;
  const enabled = object.body["enabled"] !== false;
  const write = async (): Promise<void> => {
    const body = withAt(object.body, ["enabled"], enabled ? false : undefined) as JsonObject;
    const result = await putObject(path, body, object.version);
    if (result.kind === "written") return;
    throw new ApiError({
      status: 412,
      code: "lostUpdate",
      title: "Changed meanwhile",
      detail: `Somebody else changed this ${what} meanwhile. It is shown anew; look, and try again.`,
    });
  };
  return (
    <>
      <Button onClick={() => setAsked(true)}>{enabled ? "Drain" : "Enable"}</Button>
      {asked ? (
        <Confirm
          title={enabled ? `Drain ${what} ${object.name}?` : `Enable ${what} ${object.name}?`}
          action={enabled ? "Drain" : "Enable"}
          act={write}
          onClose={(done) => {
            setAsked(false);
            if (done)
              toast(
                enabled
                  ? `No new query goes to ${object.name}.`
                  : `Queries go to ${object.name} again.`,
              );
          }}
        >
          <p>
            {enabled
              ? "No new query is sent there. What runs goes on to its end, and everything else of its configuration stays."
              : "New queries are sent there as soon as it is healthy."}
          </p>
        </Confirm>
      ) : null}
    </>
  );
}
