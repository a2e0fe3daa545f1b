/**
 * How transactions run: `SET TRANSACTION`, and the variables that say the same.
 *
 * Before servers that speak MySQL the session's are set on whatever connection runs its next statement, and what is
 * said of the next transaction alone goes with the statement that begins it. Elsewhere the gateway keeps writes back
 * itself, for as long as the session asks for that.
 */
import type { NextTransaction } from "@gateway/core/query/mysqlCall.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import type {
  Isolation,
  SettingScope,
  TransactionModes,
} from "@gateway/core/sql/session/statement.ts";
import type { ErrorReply } from "@gateway/wire/mysql/reply.ts";
import { isolationNames, tracking, type ClientSession } from "../session/clientSession.ts";
import { ownErrors } from "../errors.ts";
import { byDefault, switchValue, type Assigned } from "./settingValue.ts";
import { defaultIsolation, type VariableContext } from "./variables.ts";

type Changed = Result<ClientSession, ErrorReply>;

/** The names of the session's settings. */
const isolationSetting = "transaction_isolation";
const readOnlySetting = "transaction_read_only";

/** In the order of the numbers by which the variable may be set. */
const isolations = Object.keys(isolationNames) as readonly Isolation[];

/** `SET [SESSION] TRANSACTION`. Without SESSION the next transaction alone is meant. */
export function withModes(
  context: VariableContext,
  modes: TransactionModes,
  scope: "next" | "session",
): Changed {
  const { isolation, readOnly } = modes;
  if (modes.deferrable !== undefined || modes.consistentSnapshot)
    return err(ownErrors.syntax("SET TRANSACTION"));
  if (scope === "next") return withNext(context, { isolation, readOnly });
  const isolated =
    isolation === undefined
      ? ok(context.client)
      : withSessionIsolation(context, isolationNames[isolation]);
  if (!isolated.ok || readOnly === undefined) return isolated;
  return ok(withSessionAccess({ ...context, client: isolated.value }, readOnly));
}

/** The variable of this name; undefined where it is none of them. `name` is in lower case. */
export function withCharacteristic(
  context: VariableContext,
  { name, scope, value }: { name: string; scope: SettingScope; value: Assigned },
): Changed | undefined {
  // Only servers of the family's own can be asked for one transaction by a variable.
  const next = scope === "bare" && context.relays();
  switch (name) {
    case "transaction_isolation":
    case "tx_isolation":
      return next ? withNextIsolation(context, value) : withIsolationVariable(context, value);
    case "transaction_read_only":
    case "tx_read_only": {
      const on = value === byDefault ? 0n : switchValue(value);
      if (on === undefined) return err(ownErrors.wrongValue(name, String(value)));
      if (next) return withNext(context, { isolation: undefined, readOnly: on === 1n });
      return ok(withSessionAccess(context, value === byDefault ? byDefault : on === 1n));
    }
    default:
      return undefined;
  }
}

function withNext(
  { client, ownWords, relays }: VariableContext,
  { isolation, readOnly }: NextTransaction,
): Changed {
  const { pin } = client.session;
  if (pin !== undefined && pin.state !== "ended") return err(ownErrors.characteristics());
  // The gateway knows no transaction of one statement, which is what the next one may be.
  if (readOnly !== undefined && !relays() && readOnly !== client.readOnly)
    return err(ownErrors.notSupported("SET TRANSACTION READ ONLY or WRITE without SESSION"));
  if (!ownWords())
    return isolation === undefined ? ok(client) : withStored(client, isolationNames[isolation]);
  return ok({
    ...client,
    next: nextOf({
      isolation: isolation ?? client.next?.isolation,
      readOnly: relays() ? (readOnly ?? client.next?.readOnly) : undefined,
    }),
  });
}

function withNextIsolation(context: VariableContext, value: Assigned): Changed {
  const isolation = isolationOf(value);
  if (isolation !== undefined) return withNext(context, { isolation, readOnly: undefined });
  return value === byDefault
    ? err(ownErrors.notSupported(`@@${isolationSetting} = DEFAULT without SESSION`))
    : err(ownErrors.wrongValue(isolationSetting, String(value)));
}

function isolationOf(value: Assigned): Isolation | undefined {
  if (typeof value === "bigint") return isolations[Number(value)];
  const upper = String(value).toUpperCase();
  return isolations.find((one) => isolationNames[one] === upper);
}

function withIsolationVariable(context: VariableContext, value: Assigned): Changed {
  const { client } = context;
  if (!context.ownWords())
    return withStored(client, value === byDefault ? defaultIsolation : String(value));
  if (value !== byDefault) {
    const isolation = isolationOf(value);
    return isolation === undefined
      ? err(ownErrors.wrongValue(isolationSetting, String(value)))
      : withSessionIsolation(context, isolationNames[isolation]);
  }
  const settings = new Map(client.session.settings);
  settings.delete(isolationSetting);
  return ok(overNext({ ...client, session: { ...client.session, settings } }, "isolation"));
}

function withSessionIsolation({ client, ownWords }: VariableContext, level: string): Changed {
  if (!ownWords()) return withStored(client, level);
  return ok(overNext(withSetting(client, isolationSetting, level), "isolation"));
}

/** Of an engine that has no isolation to set. */
function withStored(client: ClientSession, level: string): Changed {
  const value = level.toUpperCase();
  if (value === "SERIALIZABLE") return err(ownErrors.notSupported("the isolation SERIALIZABLE"));
  if (!/^(?:READ-UNCOMMITTED|READ-COMMITTED|REPEATABLE-READ)$/.test(value))
    return err(ownErrors.wrongValue(isolationSetting, level));
  const settings = new Map(client.settings).set(isolationSetting, value);
  return ok(tracking({ ...client, settings }, { kind: "variable", name: isolationSetting, value }));
}

function withSessionAccess(
  { client, relays }: VariableContext,
  access: boolean | typeof byDefault,
): ClientSession {
  const changed = overNext({ ...client, readOnly: access === true }, "readOnly");
  if (!relays()) return changed;
  if (access !== byDefault) return withSetting(changed, readOnlySetting, access ? "ON" : "OFF");
  const settings = new Map(changed.session.settings);
  settings.delete(readOnlySetting);
  return { ...changed, session: { ...changed.session, settings } };
}

/** On a server too the session's form is the last word for the next transaction. */
function overNext(client: ClientSession, what: "isolation" | "readOnly"): ClientSession {
  const { next } = client;
  return next === undefined ? client : { ...client, next: nextOf({ ...next, [what]: undefined }) };
}

function nextOf(next: NextTransaction): NextTransaction | undefined {
  return next.isolation === undefined && next.readOnly === undefined ? undefined : next;
}

function withSetting(client: ClientSession, name: string, value: string): ClientSession {
  const settings = new Map(client.session.settings).set(name, value);
  return { ...client, session: { ...client.session, settings } };
}
