/** What the texts say of themselves that are sent at once: all of it follows from the text, and is found by one look. */
import { remembered } from "@gateway/core/sql/reading/remembered.ts";
import { asksMore } from "../../starRocks/client/aftermath.ts";
import { judge, type Allowed } from "./guard.ts";
import { ownIn } from "./own.ts";

export interface AtOnce {
  /** False where something has to be asked, kept or refused for it, or is asked behind its answer. */
  readonly may: boolean;
  /** As `judge` says it. */
  readonly leaves: boolean;
}

/** Whether a text may be sent before anybody waits for anything. */
export function atOnce(sql: string, { globalVariables }: Allowed): AtOnce {
  return globalVariables ? withGlobals(sql) : without(sql);
}

const limits = { textsMax: 1_000, lengthMax: 2_000 };
const withGlobals = remembered((sql) => read(sql, { globalVariables: true }), limits);
const without = remembered((sql) => read(sql, { globalVariables: false }), limits);

const no: AtOnce = { may: false, leaves: false };
const clean: AtOnce = { may: true, leaves: false };
const leaving: AtOnce = { may: true, leaves: true };

function read(sql: string, allowed: Allowed): AtOnce {
  const own = ownIn(sql);
  if (own.database !== undefined || own.variables !== undefined || asksMore(sql)) return no;
  const judged = judge(sql, allowed);
  if (!judged.ok || judged.value.keeps !== undefined || judged.value.asksFile) return no;
  return judged.value.leaves ? leaving : clean;
}
