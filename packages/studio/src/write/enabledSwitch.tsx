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
  // What was asked for stays what the question says, although the object changes before the question is gone.
  const [asked, setAsked] = useState<"drain" | "enable">();
  if (!admin) return null;
  const enabled = object.body["enabled"] !== false;
  const write = async (): Promise<void> => {
    const value = asked === "drain" ? false : undefined;
    const body = withAt(object.body, ["enabled"], value) as JsonObject;
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
      <Button onClick={() => setAsked(enabled ? "drain" : "enable")}>
        {enabled ? "Drain" : "Enable"}
      </Button>
      {asked === undefined ? null : (
        <Confirm
          title={`${words[asked].deed} ${what} ${object.name}?`}
          action={words[asked].deed}
          act={write}
          onClose={(done) => {
            setAsked(undefined);
            if (done) toast(words[asked].done(object.name));
          }}
        >
          <p>{words[asked].means}</p>
        </Confirm>
      )}
    </>
  );
}

const words = {
  drain: {
    deed: "Drain",
    means:
      "No new query is sent there. What runs goes on to its end, and everything else of its configuration stays.",
    done: (name: string) => `No new query goes to ${name}.`,
  },
  enable: {
    deed: "Enable",
    means: "New queries are sent there as soon as it is healthy.",
    done: (name: string) => `Queries go to ${name} again.`,
  },
} as const;
