/** A statement that its connection keeps prepared: what is sent in the place of its text, and what comes back for it. */
import type { GatewayError } from "@gateway/core/error.ts";
import type { Reading } from "@gateway/core/query/course.ts";
import type { FailedEvent } from "@gateway/core/query/event.ts";
import type { Conversation } from "./conversation.ts";
import type { Member } from "./member.ts";
import type { Taken } from "./prepared.ts";

export interface Named extends Taken {
  /** What is prepared, with its comments. */
  readonly text: string;
  /** Characters before the client's text. */
  readonly prefix: number;
  /** Tells in the server's list whose it is; undefined where the text does. */
  readonly tag: string | undefined;
  /** By which its connection knows it. */
  readonly key: string;
}

const tagStatement = "gateway-tag";
const tagSql = "SELECT pg_catalog.set_config('application_name', $1, false)";
const textOid = 25;

/** Puts what comes before its Bind. */
export function putNamed(member: Member, named: Named, types: readonly number[]): void {
  for (const name of named.closes) member.put({ kind: "close", target: "statement", name });
  if (named.tag !== undefined) {
    if (!member.prepared.tags)
      member.put({ kind: "parse", statement: tagStatement, sql: tagSql, types: [textOid] });
    const values = [Buffer.from(named.tag, "latin1")];
    const bind = { kind: "bind", portal: "", statement: tagStatement, values } as const;
    member.put({ ...bind, formats: [], resultFormats: [] });
    member.put({ kind: "execute", portal: "", maxRows: 0 });
  }
  if (!named.known) member.put({ kind: "parse", statement: named.name, sql: named.text, types });
}

/** Waits for the answers to it. */
export function* namedReady(talk: Conversation, named: Named): Reading<FailedEvent | undefined> {
  const { prepared } = talk.member;
  for (const _name of named.closes) {
    const failed = yield* talk.expect("closeComplete");
    if (failed !== undefined) return failed;
  }
  const tagged = named.tag === undefined ? undefined : yield* tagReady(talk);
  if (tagged !== undefined) return tagged;
  if (named.known) return undefined;
  const failed = yield* talk.expect("parseComplete");
  if (failed === undefined) prepared.made(named.key, named.name);
  return failed;
}

function* tagReady(talk: Conversation): Reading<FailedEvent | undefined> {
  const { prepared } = talk.member;
  const failed = prepared.tags ? undefined : yield* talk.expect("parseComplete");
  if (failed !== undefined) return failed;
  prepared.tags = true;
  const unbound = yield* talk.expect("bindComplete");
  if (unbound !== undefined) return unbound;
  for (;;) {
    const next = yield* talk.rows(1);
    if (next.kind === "failed") return next;
    if (next.kind === "complete") return undefined;
  }
}

/** True when the server would have it prepared anew: a table changed, or the name is not known any more. */
export function isStale({ vendor }: GatewayError): boolean {
  const routine = vendor?.of === "postgres" ? vendor.fields.get("R") : undefined;
  return routine === "RevalidateCachedQuery" || routine === "FetchPreparedStatement";
}
