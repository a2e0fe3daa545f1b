/** Why a query went where it went: each router's answer, then capacity and attempts. */
import type { HistoryRecord } from "../api/shapes.ts";
import { Card } from "../ui/page.tsx";
import { Empty } from "../ui/state.tsx";
import { Steps } from "../ui/steps.tsx";

export function Trace({ record }: { readonly record: HistoryRecord }) {
  const { routingTrace, policyActions } = record;
  return (
    <div className="stack">
      <Card title="Why it went there">
        {routingTrace.length === 0 ? (
          <Empty title="No trace">
            It was refused before it was routed, or the redaction keeps none.
          </Empty>
        ) : (
          <Steps steps={routingTrace} />
        )}
      </Card>
      {policyActions.length === 0 ? null : (
        <Card title="What policies did">
          <ul className="stack tight">
            {policyActions.map((action) => (
              <li key={action} className="wrap">
                {action}
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  );
}
