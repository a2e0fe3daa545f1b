/** The SQL as the client sent it, and what the engine got, as a difference. Always text, never markup. */
import type { HistoryRecord } from "../api/shapes.ts";
import { useMay } from "../shell/me.ts";
import { Copy } from "../ui/copy.tsx";
import { Card } from "../ui/page.tsx";
import { TextDifference } from "../ui/textDifference.tsx";

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
          <TextDifference from={sql} to={translatedSql} />
        </Card>
      )}
    </>
  );
}
