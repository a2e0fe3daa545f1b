/** One query by Trino's protocol over HTTP, and how it ended for its client. */
import { z } from "zod";
import type { Answer, AnswerKind } from "./evidence.ts";
import { basicLogin, below, jsonOf, request, type NoReply, type Reply } from "./http.ts";
import { markPlace, type Login } from "./options.ts";

const pageSchema = z.looseObject({
  id: z.string().optional(),
  nextUri: z.string().optional(),
  data: z.array(z.array(z.unknown())).optional(),
  error: z.looseObject({ errorName: z.string() }).optional(),
});

/** Statuses that tell a client what to do: log in, ask for something else, come back later. */
const typedStatuses: ReadonlySet<number> = new Set([400, 401, 403, 429, 502, 503, 504]);
/** A handle of a process that is gone. */
const goneStatuses: ReadonlySet<number> = new Set([404, 410]);

export interface Question {
  readonly worker: URL;
  readonly login: Login;
  /** Holds `{mark}`; its first cell is to be `mark`. */
  readonly sql: string;
  readonly mark: string;
  readonly answerMs: number;
}

/** Asks until the query ended, or `answerMs` have passed. */
export async function ask({ worker, login, sql, mark, answerMs }: Question): Promise<Answer> {
  const signal = AbortSignal.timeout(answerMs);
  const headers = { "x-trino-user": login.name, ...basicLogin(login) };
  const body = sql.replaceAll(markPlace, mark);
  let reply = await request(below(worker, "/v1/statement"), {
    method: "POST",
    headers,
    body,
    signal,
  });
  let queryId: string | undefined;
  let cell: unknown;
  for (;;) {
    if (!reply.ok) return lost(reply.error, queryId);
    const ended = refusedBy(reply.value, queryId);
    if (ended !== undefined) return ended;
    const page = pageSchema.safeParse(jsonOf(reply.value.text)).data;
    if (page === undefined) return { kind: "wrong", detail: "no page of the protocol", queryId };
    queryId ??= page.id;
    if (page.error !== undefined) return { kind: "typed", detail: page.error.errorName, queryId };
    cell ??= page.data?.[0]?.[0];
    if (page.nextUri === undefined) return endOf(cell, mark, queryId);
    const next = placeOf(page.nextUri, worker);
    if (next === undefined)
      return { kind: "wrong", detail: "a next page without a place", queryId };
    reply = await request(next, { headers, signal });
  }
}

/** Only the path is believed: whatever the answer names, the login goes to the address that the operator gave. */
function placeOf(nextUri: string, worker: URL): URL | undefined {
  if (!URL.canParse(nextUri)) return undefined;
  const { pathname, search } = new URL(nextUri);
  const place = new URL(worker);
  place.pathname = pathname;
  place.search = search;
  return place;
}

function endOf(cell: unknown, mark: string, queryId: string | undefined): Answer {
  if (cell === mark) return { kind: "right", detail: "", queryId };
  const detail = cell === undefined ? "no row" : "another cell";
  return { kind: "wrong", detail, queryId };
}

function refusedBy({ status }: Reply, queryId: string | undefined): Answer | undefined {
  if (status === 200) return undefined;
  const detail = `HTTP ${status}`;
  if (typedStatuses.has(status)) return { kind: "typed", detail, queryId };
  return { kind: goneStatuses.has(status) ? "cut" : "wrong", detail, queryId };
}

const kinds = { cut: "cut", late: "hung", long: "wrong" } satisfies Record<NoReply, AnswerKind>;
const details = {
  cut: "connection",
  late: "no end",
  long: "too long",
} satisfies Record<NoReply, string>;

function lost(how: NoReply, queryId: string | undefined): Answer {
  return { kind: kinds[how], detail: details[how], queryId };
}
