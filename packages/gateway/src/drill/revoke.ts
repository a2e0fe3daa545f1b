/**
 * The drill of a user who is removed. The user is the drill's own: it is added to the static users under a random
 * name and password, asked as, and removed; nobody else's entry is written other than it was read.
 */
import { Buffer } from "node:buffer";
import { newHash } from "@gateway/access/client/static/inline.ts";
import type { Revision } from "@gateway/contract/revision.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { Secret } from "@gateway/core/secret.ts";
import { hasRevision, type AdminApi } from "./admin.ts";
import { ask } from "./ask.ts";
import type { AnswerKind, NoEvidence, RevokedEvidence } from "./evidence.ts";
import type { DrillOptions, Login } from "./options.ts";
import { found, type Patience } from "./wait.ts";

/** Somebody else may write at the same time, but not as often. */
const writesMax = 5;
/** Queries to each address after the removal: where a balancer is, one would see one worker. */
const asksAfter = 10;

export interface RevokeParts {
  readonly api: AdminApi;
  readonly options: DrillOptions;
  readonly patience: Patience;
  readonly randomBytes: (length: number) => Uint8Array;
}

export interface Revoked {
  /** Before the user was removed. Monotonic milliseconds. */
  readonly fromMs: number;
  /** Undefined when not every worker said within the limit that it runs without the user. */
  readonly evidence: RevokedEvidence | undefined;
}

/** Adds, asks, removes and asks again. The user is gone afterwards, whatever happened; the error says when it is not. */
export async function revoke(parts: RevokeParts): Promise<Result<Revoked, NoEvidence>> {
  const { api, patience } = parts;
  const login: Login = {
    name: `drill-${hex(parts, 8)}`,
    password: new Secret(hex(parts, 24)),
  };
  const hash = await newHash(login.password?.reveal() ?? "");
  if (!hash.ok) return notRun("no hash could be made");
  const added = await changed(api, (users) => ({
    ...users,
    [login.name]: { passwordHash: hash.value },
  }));
  if (!added.ok && !added.error.unsure) return notRun(added.error.text);
  const known = added.ok && (await knownEverywhere(parts, login, added.value));
  const fromMs = patience.clock.nowMs();
  const removed = await removal(parts, login);
  if (removed === undefined) {
    return err({ kind: "notUndone", text: `${login.name} may still be a static user: remove it` });
  }
  if (!added.ok) return notRun(added.error.text);
  if (!known) return notRun("the user that the drill added was not answered: it may use no group");
  const everywhere = await found(async () => has(api, removed), patience);
  if (everywhere !== true) return ok({ fromMs, evidence: undefined });
  return ok({ fromMs, evidence: await seenAfter(parts, login) });
}

/** Tried until the limit, whatever stops the drill. */
function removal({ api, patience }: RevokeParts, { name }: Login): Promise<Revision | undefined> {
  return found(
    async () => {
      const removed = await changed(api, ({ [name]: _gone, ...others }) => others);
      return removed.ok ? removed.value : undefined;
    },
    { ...patience, signal: new AbortController().signal },
  );
}

function notRun(text: string) {
  return err({ kind: "notRun", text } as const);
}

function hex({ randomBytes }: RevokeParts, bytes: number): string {
  return Buffer.from(randomBytes(bytes)).toString("hex");
}

interface NotWritten {
  readonly text: string;
  /** Whether it may have been written all the same. */
  readonly unsure: boolean;
}

function notWritten(text: string, unsure = false): Result<never, NotWritten> {
  return err({ text, unsure });
}

type Users = Readonly<Record<string, unknown>>;

/** Writes the users anew; a write that somebody else's came before is made again over theirs. */
async function changed(
  api: AdminApi,
  change: (users: Users) => Users,
): Promise<Result<Revision, NotWritten>> {
  for (let write = 0; write < writesMax; write += 1) {
    const read = await api.users();
    if (!read.ok) return notWritten(read.error.text);
    const { staticUsers } = read.value.body;
    const users = isObject(staticUsers) ? staticUsers["users"] : undefined;
    if (!isObject(staticUsers) || !isObject(users))
      return notWritten("auth.provider is not static");
    const body = { ...read.value.body, staticUsers: { ...staticUsers, users: change(users) } };
    const written = await api.writeUsers({ body, etag: read.value.etag });
    if (written.ok) return written;
    const { status = 503, text } = written.error;
    if (status !== 412) return notWritten(text, status >= 500);
  }
  return notWritten("somebody else writes the users all the time");
}

async function knownEverywhere(parts: RevokeParts, login: Login, at: Revision): Promise<boolean> {
  const { api, patience } = parts;
  const everywhere = await found(async () => has(api, at), patience);
  if (everywhere !== true) return false;
  const kinds = await found(async () => {
    const seen = await askEach(parts, login, 1);
    return seen.every((kind) => kind === "right") ? seen : undefined;
  }, patience);
  return kinds !== undefined;
}

/** True when every worker that serves runs under the revision; undefined otherwise. */
async function has(api: AdminApi, revision: Revision): Promise<true | undefined> {
  const serving = await api.serving();
  if (!serving.ok) return undefined;
  return serving.value.every((worker) => hasRevision(worker, revision)) ? true : undefined;
}

async function seenAfter(parts: RevokeParts, login: Login): Promise<RevokedEvidence> {
  const kinds = await askEach(parts, login, asksAfter);
  const count = (...wanted: readonly AnswerKind[]): number =>
    kinds.filter((kind) => wanted.includes(kind)).length;
  // A wrong answer was an answer all the same.
  return {
    refused: count("typed"),
    answered: count("right", "wrong"),
    other: count("cut", "hung"),
  };
}

async function askEach(
  { options, randomBytes }: RevokeParts,
  login: Login,
  times: number,
): Promise<readonly AnswerKind[]> {
  const { workers, sql, answerMs } = options;
  const mark = `drill_${Buffer.from(randomBytes(6)).toString("hex")}`;
  const answers = await Promise.all(
    workers.flatMap((worker, at) =>
      Array.from({ length: times }, (_, number) =>
        ask({ worker, login, sql, mark: `${mark}_${at}_${number}`, answerMs }),
      ),
    ),
  );
  return answers.map(({ kind }) => kind);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
