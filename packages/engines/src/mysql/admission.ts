/** What a statement of MySQL's own clients may run with on its connection, and whether it may run. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Slices } from "@gateway/core/port/host.ts";
import { unlessRefused, waited, type Now, type Reading } from "@gateway/core/query/course.ts";
import type { MysqlCall } from "@gateway/core/query/mysqlCall.ts";
import type { Identified } from "@gateway/core/query/query.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { bringLastId } from "../starRocks/client/aftermath.ts";
import { sayNext } from "./client/bring.ts";
import type { Seat } from "./client/seat.ts";
import { noFiles } from "./errors.ts";
import { judge, type Allowed } from "./sql/guard.ts";
import { sentText } from "./sql/strings.ts";

type SentText = Awaited<ReturnType<typeof sentText>>;

/** A query of a client that speaks MySQL. */
export type Called = Identified & { readonly mysql: MysqlCall };

/** What a statement runs with, apart from its connection. */
export interface RunContext extends Allowed {
  readonly clock: Clock;
  readonly slices: Slices;
  /** Whoever reads takes a result that comes with its end. */
  readonly whole?: boolean;
  readonly database: string | undefined;
  readonly localFiles: boolean;
  /** Makes the connection the session's own, for this reason; the error where that is not done here. */
  readonly keep: (seat: Seat, query: Called, reason: string) => GatewayError | undefined;
  /** Asks the server to end what the connection runs. True when it was told, and nothing of it is still to come. */
  readonly cancel: (seat: Seat) => Promise<boolean>;
  /** Lets others of the session, or of the transaction, run on the connection while a cursor waits. */
  readonly lend?: (seat: Seat, query: Called) => Disposable;
}

/** True for a query of a client that speaks MySQL. */
export function isCalled(query: Identified): query is Called {
  return query.mysql !== undefined;
}

/** What a statement runs with, as far as that is known. */
export interface Asking {
  readonly seat: Seat;
  readonly query: Called;
  readonly context: RunContext;
  readonly signal: AbortSignal;
  /** The server may ask for a file of the client's. */
  localFiles: boolean;
  /** The text as it is sent, without its tag. */
  sent: string;
}

export type Admitted = Result<undefined, GatewayError>;
/** Waits only where it has to: most statements are admitted at once. */
type Admitting = Now<undefined>;

export function admittedOn(asking: Asking): Admitting {
  const { seat, query, context, signal } = asking;
  const admission = admitted(seat, query, context);
  if (!admission.ok) return admission;
  asking.localFiles = admission.value.asksFile;
  const bringing = bringLastId(seat.member, query.session, query.engineSql, signal);
  return bringing === undefined ? readOn(asking) : unlessRefused(bringing, readOn, asking);
}

function readOn(asking: Asking): Admitting {
  const { seat, query, context, signal } = asking;
  const { user } = query.session.identity;
  const reading = sentText(seat.member, query, { slices: context.slices, user, signal });
  return reading instanceof Promise ? readLater(reading, asking) : saidOn(asking, reading);
}

function* readLater(reading: Promise<SentText>, asking: Asking): Reading<Admitted> {
  const saying = saidOn(asking, yield* waited(reading));
  return "ok" in saying ? saying : yield* saying;
}

function saidOn(asking: Asking, text: SentText): Admitting {
  const { seat, query, signal } = asking;
  if (!text.ok) return text;
  if (signal.aborted) return err(gatewayError("query.cancelled"));
  asking.sent = text.value;
  const saying = sayNext(seat, query, signal);
  if (saying === undefined) return admittedNow;
  // Whatever the server makes of it: nothing of it may meet another session's transaction.
  seat.used = true;
  return unlessRefused(saying, () => admittedNow);
}

const admittedNow: Admitted = ok(undefined);

/** Judges the statement, and marks the connection by what it leaves there. */
function admitted(
  seat: Seat,
  query: Called,
  context: RunContext,
): Result<{ readonly asksFile: boolean }, GatewayError> {
  const judged = judge(query.engineSql, context);
  if (!judged.ok) return judged;
  const { keeps, leaves, asksFile } = judged.value;
  if (asksFile && !(context.localFiles && query.mysql.files !== undefined)) return err(noFiles);
  if (leaves) seat.used = true;
  const refused = keeps === undefined || seat.kept ? undefined : context.keep(seat, query, keeps);
  return refused === undefined ? ok({ asksFile }) : err(refused);
}
