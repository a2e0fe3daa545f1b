/** Two texts as one, with what went and what came marked; or one side of them. Always text, never markup. */
import { useMemo } from "react";
import { textDiff } from "../tool/textDiff.ts";

export function TextDifference(props: {
  readonly from: string;
  readonly to: string;
  /** Leaves the other side's words out. */
  readonly side?: "from" | "to";
}) {
  const { from, to, side } = props;
  const pieces = useMemo(() => textDiff(from, to), [from, to]);
  return (
    <pre className="sql">
      {pieces.map(({ kind, text }, at) => {
        // Pieces have no name but their place.
        if (kind === "same") return <span key={at}>{text}</span>;
        if (kind === "added") return side === "from" ? null : <ins key={at}>{text}</ins>;
        return side === "to" ? null : <del key={at}>{text}</del>;
      })}
    </pre>
  );
}
