/** Savepoints within a transaction, and the transaction that follows it on the same pin. */
import { gatewayError, type GatewayError } from "../../error.ts";
import type { Result } from "../../result.ts";
import type { LastEvent, Stage } from "../../query/event.ts";
import type { OpenQuery } from "../step/lifecycle.ts";
import { isStrict, wordsOf, type WayBack } from "./savepoints.ts";
import type { Division } from "../../sql/session/statement.ts";
import { identify, unlogged, type SessionPin } from "./pinSession.ts";

/** SAVEPOINT, RELEASE and ROLLBACK TO. */
export async function* divide(
  division: Result<Division, GatewayError>,
  open: OpenQuery,
  pin: SessionPin,
): Stage {
  if (!division.ok) return failedIn(pin, open, division.error);
  const { kind, name } = division.value;
  if (pin.state === "aborted" && kind !== "rollbackToSavepoint") {
    return { kind: "failed", error: gatewayError("query.transactionAborted") };
  }
  const wrong = await divided(division.value, open, pin);
  if (pin.state === "ended")
    yield { kind: "session", change: { kind: "unpinned", outcome: "rolledBack" } };
  if (wrong !== undefined) return failedIn(pin, open, wrong);
  if (kind === "rollbackToSavepoint") pin.points.back(name);
  yield { kind: "session", change: { kind: "divided", division: division.value } };
  return { kind: "done", stats: open.live.stats(), updateType: wordsOf[kind] };
}

async function divided(
  division: Division,
  open: OpenQuery,
  pin: SessionPin,
): Promise<GatewayError | undefined> {
  const { points, lane } = pin;
  if (lane.divide !== undefined) return await dividedInEngine(division, open, pin);
  const { kind, name } = division;
  switch (kind) {
    case "savepoint":
      return points.set(name);
    case "releaseSavepoint":
      return points.release(name);
    case "rollbackToSavepoint": {
      const strict = isStrict(pin.modes, open.query);
      const goesOn = lane.goesOn && (async () => (await lane.goesOn?.(open.live.signal)) === true);
      const way = await points.wayBack(name, strict, goesOn);
      return way.ok ? await goBack(way.value, open, pin) : way.error;
    }
  }
}

/** The engine has savepoints of its own. Ours are counted beside them, because a session remembers as many. */
async function dividedInEngine(
  division: Division,
  open: OpenQuery,
  pin: SessionPin,
): Promise<GatewayError | undefined> {
  const { kind, name } = division;
  const { points, lane } = pin;
  const wrong =
    kind === "savepoint"
      ? points.set(name)
      : kind === "releaseSavepoint"
        ? points.release(name)
        : points.unknown(name);
  if (wrong !== undefined) return wrong;
  const done = await lane.divide?.(division, open.live.signal, open.query.session);
  if (done?.ok === false) return done.error;
  if (kind === "rollbackToSavepoint") pin.reopen();
  return undefined;
}

async function goBack(
  way: WayBack,
  open: OpenQuery,
  pin: SessionPin,
): Promise<GatewayError | undefined> {
  if (way.kind === "stay") {
    pin.reopen();
    return undefined;
  }
  const renewed = await beginAgain(pin, open.live.signal);
  return renewed.ok ? undefined : renewed.error;
}

/** Another transaction in the same slot, with the modes the client asked for in the first. */
function beginAgain(pin: SessionPin, signal: AbortSignal): Promise<Result<void, GatewayError>> {
  return pin.renew(async () => {
    const identified = await identify(pin.held.begin, pin, unlogged, signal);
    if (!identified.ok) return identified;
    const { lane } = pin;
    if (lane.again !== undefined) return await lane.again(identified.value, signal);
    return await pin.held.generation.generation
      .backend(pin.cluster)
      .begin(identified.value, signal);
  });
}

/** The transaction that follows one that is over. An error ends the pin. */
export async function chain(open: OpenQuery, pin: SessionPin): Promise<Result<void, GatewayError>> {
  pin.points.clear();
  return await beginAgain(pin, open.live.signal);
}

/** PostgreSQL refuses everything after a failure until the end of the transaction; others go on. */
export function failedIn(pin: SessionPin, open: OpenQuery, error: GatewayError): LastEvent {
  if (open.query.session.dialect === "postgres") pin.abort();
  return { kind: "failed", error };
}
