/** The SQL as the client sent it, and what the engine got, as a difference. Always text, never markup. */
import type { HistoryRecord } from "../api/shapes.ts";
import { useMay } from "../shell/me.ts";
import { textDiff } from "../tool/textDiff.ts";
import { Copy } from "../ui/copy.tsx";
import { Card } from "../ui/page.tsx";

export function SqlCards({ record }: { readonly record: HistoryRecord }) {
  const operator = useMay("operator");
  const { sql, translatedSql, sourceDialect, targetDialect } = record;
  if (sql === undefined) {
    return (
      <Card title="SQL">
        <p className="muted">
          {operator
            ? "The redaction of the history keeps no SQL."
            : "SQL is shown to operators and administrators."}
        </p>
      </Card>
    );
  }
  return (
    <>
      <Card title={`SQL in ${sourceDialect}`} actions={<Copy text={sql} what="SQL" />}>
        <pre className="sql">{sql}</pre>
      </Card>
      {translatedSql === undefined || translatedSql === sql ? null : (
        <Card
          title={`What the engine got${targetDialect === undefined ? "" : `, in ${targetDialect}`}`}
          actions={<Copy text={translatedSql} what="SQL" />}
        >
          <Difference from={sql} to={translatedSql} />
        </Card>
      )}
    </>
  );
}

function Difference({ from, to }: { readonly from: string; readonly to: string }) {
  return (
    <pre className="sql">
      {textDiff(from, to).map(({ kind, text }, at) => {
        // Pieces have no name but their place.
        if (kind === "added") return <ins key={at}>{text}</ins>;
        if (kind === "removed") return <del key={at}>{text}</del>;
        return <span key={at}>{text}</span>;
      })}
    </pre>
  );
}
