/** The door over its parts: the one implementation of `Door`. */
import type { Backend } from "../port/backend.ts";
import type { Door } from "../port/door.ts";
import { gatewayError } from "../error.ts";
import { err, ok } from "../result.ts";
import { describeQuery } from "./describe.ts";
import { queryIds } from "./id.ts";
import type { Presented } from "../port/authenticator.ts";
import type { SiblingTopic } from "../port/siblings.ts";
import type { AuthContext } from "../query/identity.ts";
import type { QueryId } from "../query/query.ts";
import { withAskedTags } from "./step/askedTags.ts";
import type { DataPlane } from "./step/plane.ts";
import type { BeginQuery } from "./poll/parked.ts";
import { PolledQueries } from "./poll/polled.ts";
import { answerQuery, startQuery } from "./answer.ts";
import { runQuery } from "./run.ts";
import { tablesFor } from "./tables.ts";
import { reachedIn, targetOf } from "./target.ts";

/** Length of a claimed name in an audit line. */
const auditNameMax = 128;

/** Logins that were refused, by the frontend they came over and the code of the refusal. */
export const authFailures = {
  name: "gateway_auth_failures_total",
  help: "Refused logins.",
  labels: ["frontend", "reason"],
} as const;

/** A query that may be another process's. */
const cancelling: SiblingTopic<{ id: QueryId; by: AuthContext }, boolean> = {
  name: "query.cancel",
};

export interface OpenDoor {
  readonly door: Door;
  /** Ends the sweep and what is parked. */
  close(): Promise<void>;
}

export function openDoor(plane: DataPlane): OpenDoor {
  const { generations, host } = plane;
  const { siblings } = host;
  const cancelHere = cancellerOf(plane);
  siblings?.answer(cancelling, async ({ id, by }) => (await cancelHere(id, by)).ok);
  const comments = plane.tagComments === true;
  const run: Door["run"] = (query, signal) =>
    runQuery(withAskedTags(query, comments), plane, signal);
  const begin: BeginQuery = (query, signal, reader) =>
    startQuery(withAskedTags(query, comments), plane, signal, reader);
  const polled = new PolledQueries(host);

  const noteRefusal: Door["refused"] = (code, { kind, user }, { frontend, address }) => {
    host.metrics.counter(authFailures, { frontend, reason: code }).add(1);
    // The name is what the client claimed, cut short. It is believed by nobody.
    const name = user?.slice(0, auditNameMax);
    host.log.write("warn", "auth.refused", { frontend, code, address, shown: kind, user: name });
  };

  const door = new AskedDoor(generations, {
    catalogs: () => generations.active?.catalogs() ?? [],
    learned: () => generations.active?.learned?.(),
    judgesTexts: () => generations.active?.judgesTexts ?? true,
    engines: reachedIn(generations),
    scram: (user) => generations.active?.authenticator.scram?.(user),
    authenticate: authenticateBy(plane, noteRefusal),
    recall: (presented) => generations.active?.authenticator.recall?.(presented),
    refused: noteRefusal,
    query: queriesOf(host),
    run,
    answer: (query, signal) => answerQuery(withAskedTags(query, comments), plane, signal),
    describe: (query, signal) => describeQuery(withAskedTags(query, comments), plane, signal),
    target: (query, signal) => targetOf(withAskedTags(query, comments), plane, signal),
    tables: (query, signal) => tablesFor(withAskedTags(query, comments), plane, signal),
    start: (query) => polled.start(query, run, begin),
    resume: (id, owner) => polled.resume(id, owner),
    sessionAt: (process, cluster) =>
      sessionAt(generations.active?.backends() ?? [], process, cluster),
    cancel: async (id, by) => {
      if (plane.live.get(id) !== undefined || siblings === undefined) return cancelHere(id, by);
      const answers = await siblings.ask(cancelling, { id, by });
      return answers.includes(true) ? ok(undefined) : err(gatewayError("query.unknown"));
    },
  });
  return { door, close: () => polled.close() };
}

/** What is asked of the active configuration each time. */
type Asked = "asksPassword" | "takesTokens" | "tokenIssuer";
type Does = Required<Omit<Door, Asked>>;

/**
 * A class: a literal with accessors is a table of names to V8, which each statement searched twice. Its functions are
 * fields, because frontends take them out of it.
 */
class AskedDoor implements Door {
  readonly #generations: DataPlane["generations"];
  readonly catalogs: Does["catalogs"];
  readonly learned: Does["learned"];
  readonly judgesTexts: Does["judgesTexts"];
  readonly engines: Does["engines"];
  readonly scram: Does["scram"];
  readonly authenticate: Does["authenticate"];
  readonly recall: Does["recall"];
  readonly refused: Does["refused"];
  readonly query: Does["query"];
  readonly run: Does["run"];
  readonly answer: Does["answer"];
  readonly describe: Does["describe"];
  readonly target: Does["target"];
  readonly tables: Does["tables"];
  readonly start: Does["start"];
  readonly resume: Does["resume"];
  readonly cancel: Does["cancel"];
  readonly sessionAt: Does["sessionAt"];

  constructor(generations: DataPlane["generations"], does: Does) {
    this.#generations = generations;
    this.catalogs = does.catalogs;
    this.learned = does.learned;
    this.judgesTexts = does.judgesTexts;
    this.engines = does.engines;
    this.scram = does.scram;
    this.authenticate = does.authenticate;
    this.recall = does.recall;
    this.refused = does.refused;
    this.query = does.query;
    this.run = does.run;
    this.answer = does.answer;
    this.describe = does.describe;
    this.target = does.target;
    this.tables = does.tables;
    this.start = does.start;
    this.resume = does.resume;
    this.cancel = does.cancel;
    this.sessionAt = does.sessionAt;
  }

  get asksPassword(): boolean {
    return this.#generations.active?.authenticator.asksPassword ?? false;
  }

  get takesTokens(): boolean {
    return this.#generations.active?.authenticator.takesTokens ?? false;
  }

  get tokenIssuer(): string | undefined {
    return this.#generations.active?.authenticator.tokenIssuer;
  }
}

function sessionAt(
  backends: readonly Backend[],
  process: number,
  cluster: string | undefined,
): number | undefined {
  const found = backends
    .filter((backend) => cluster === undefined || backend.cluster === cluster)
    .flatMap((backend) => backend.sessionAt?.(process) ?? []);
  return found.length === 1 ? found[0] : undefined;
}

/** Cancels a query of this process. */
function cancellerOf({
  generations,
  live,
}: Pick<DataPlane, "generations" | "live">): Door["cancel"] {
  return async (id, by) => {
    const found = live.get(id);
    const mine = found?.query.session.identity.user === by.user;
    const held = mine ? undefined : generations.hold();
    using hold = held?.ok === true ? held.value : undefined;
    const operator = (await hold?.generation.authorizer.mayCancel(by, found?.group)) ?? false;
    // A stranger learns nothing, not even that the query exists.
    if (found === undefined || !(mine || operator)) return err(gatewayError("query.unknown"));
    found.cancel(gatewayError("query.cancelled"));
    return ok(undefined);
  };
}

/** Asks the active configuration who a client is. */
function authenticateBy(
  { generations, host }: Pick<DataPlane, "generations" | "host">,
  noteRefusal: Door["refused"],
): Door["authenticate"] {
  return async (presented, at) => {
    if (at.patienceMs !== undefined && generations.active === undefined) {
      await generations.waitForActive(host.clock, at.patienceMs);
    }
    const held = generations.hold();
    if (!held.ok) return held;
    const hold = held.value;
    try {
      const login = await hold.generation.authenticator.authenticate(presented, at);
      // What it is told of catalogs is not asked for again: the name of a database is looked up at its login.
      if (login.ok && at.patienceMs === undefined) await hold.generation.learned?.();
      if (!login.ok) {
        noteRefusal(login.error.code, { kind: presented.kind, user: claimedName(presented) }, at);
      }
      return login;
    } catch (bug) {
      host.log.bug(bug);
      return err(gatewayError("internal.bug"));
    } finally {
      hold[Symbol.dispose]();
    }
  };
}

function queriesOf(host: DataPlane["host"]): Door["query"] {
  const nextId = queryIds(host);
  return (statement, parameters, session, takes = []) => {
    const receivedUnixMs = host.clock.unixMs();
    return {
      id: nextId(receivedUnixMs),
      sql: statement.sql,
      statement,
      parameters,
      session,
      takes,
      // What a frontend may add stands here already: a field that is new behind a spread makes a hidden class anew for
      // each query, which V8 keeps until it collects everything.
      call: undefined,
      mysql: undefined,
      relay: undefined,
      lists: undefined,
      receivedAtMs: host.clock.nowMs(),
      receivedUnixMs,
    };
  };
}

function claimedName(presented: Presented): string | undefined {
  return presented.kind === "bearer" ? presented.claimedUser : presented.user;
}
