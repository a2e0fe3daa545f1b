/** The way into a gateway that hardly anybody configured yet; gone with the first changes, or when it is closed. */
import type { Live } from "@gateway/contract/studioApi.ts";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useMay } from "../shell/me.ts";
import { IconButton } from "../ui/button.tsx";
import { Card } from "../ui/page.tsx";
import { newName } from "../write/nameField.tsx";

/** Revisions that a newcomer makes: the file's, a cluster, its group, a rule. */
const revisionsMax = 4;
const key = "studio.firstSteps";

export function FirstSteps({ live }: { readonly live: Live }) {
  const admin = useMay("admin");
  const [closed, setClosed] = useState(isClosed);
  if (!admin || closed || sequenceOf(live.counters.revision) > revisionsMax) return null;
  const close = (): void => {
    setClosed(true);
    try {
      localStorage.setItem(key, "closed");
    } catch {
      // A browser that keeps nothing shows them again.
    }
  };
  return (
    <Card
      title="First steps"
      actions={<IconButton small icon="close" name="Close the first steps" onClick={close} />}
    >
      <ol className="first-steps">
        <li>
          <Link to="/clusters/$name" params={{ name: newName }}>
            Add a cluster
          </Link>{" "}
          <span className="muted">an engine that queries can go to</span>
        </li>
        <li>
          <Link to="/routing">Add a rule</Link>{" "}
          <span className="muted">which queries go there</span>
        </li>
        <li>
          <Link to="/console">Run a query</Link>{" "}
          <span className="muted">and see why it went where it went</span>
        </li>
      </ol>
    </Card>
  );
}

/** Of `epoch.sequence.hash`; 0 while there is none. */
function sequenceOf(revision: string | undefined): number {
  return Number(revision?.split(".")[1] ?? 0);
}

function isClosed(): boolean {
  try {
    return localStorage.getItem(key) !== null;
  } catch {
    return false;
  }
}
