/**
 * What a request is about, and what an answer may still become, as tables. Pure: no socket.
 *
 * An answer has one of three states. While it waits, its first rows are held, so that a failure is a status with its
 * exception. Once the head is out, a failure is a block behind the rows and a connection that breaks, so that
 * no reader takes the answer for a whole one.
 */

/** What a path and a method ask for. */
export type Action =
  | "ping"
  | "replicas"
  | "statement"
  | "notAllowed"
  /** ClickHouse's pages and whatever else it serves there. */
  | "unknown";

type Method = "read" | "write" | "other";

const routes = {
  "/": { read: "statement", write: "statement", other: "notAllowed" },
  "/query": { read: "statement", write: "statement", other: "notAllowed" },
  "/ping": { read: "ping", write: "notAllowed", other: "notAllowed" },
  "/replicas_status": { read: "replicas", write: "notAllowed", other: "notAllowed" },
} as const satisfies Readonly<Record<string, Readonly<Record<Method, Action>>>>;

/** The action of a request. `path` is without its query string. */
export function actionOf(method: string, path: string): Action {
  const route = Object.hasOwn(routes, path) ? routes[path as keyof typeof routes] : undefined;
  return route === undefined ? "unknown" : route[methodOf(method)];
}

function methodOf(method: string): Method {
  if (method === "GET" || method === "HEAD") return "read";
  return method === "POST" ? "write" : "other";
}

export type AnswerState = "waiting" | "sent" | "over";
export type AnswerEvent =
  /** More rows than are held. */
  | "rows"
  | "end"
  | "failure"
  /** A failure that the client has read already, in the engine's own bytes. */
  | "toldFailure"
  | "left";

/** What is done with the answer, and its state afterwards. */
interface Step {
  readonly does:
    | "sendHead"
    | "sendWhole"
    | "sendRows"
    | "finish"
    | "refuse"
    | "breakOff"
    | "cut"
    | "nothing";
  readonly state: AnswerState;
}

const step = (does: Step["does"], state: AnswerState): Step => ({ does, state });

export const answerSteps = {
  waiting: {
    rows: step("sendHead", "sent"),
    end: step("sendWhole", "over"),
    failure: step("refuse", "over"),
    toldFailure: step("refuse", "over"),
    left: step("nothing", "over"),
  },
  sent: {
    rows: step("sendRows", "sent"),
    end: step("finish", "over"),
    failure: step("breakOff", "over"),
    toldFailure: step("cut", "over"),
    left: step("nothing", "over"),
  },
  over: {
    rows: step("nothing", "over"),
    end: step("nothing", "over"),
    failure: step("nothing", "over"),
    toldFailure: step("nothing", "over"),
    left: step("nothing", "over"),
  },
} as const satisfies Record<AnswerState, Record<AnswerEvent, Step>>;
