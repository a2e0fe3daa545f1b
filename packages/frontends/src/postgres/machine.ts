/**
 * What may come when, on one connection: a table of every phase against everything that can happen.
 *
 * Pure. It names effects, and `connection.ts` performs them. Every cell is filled in, so the answer to a
 * message that makes no sense in a phase stands here and nowhere else.
 */
import type { FrontendMessage, StartMessage } from "@gateway/wire/postgres/message.ts";

/**
 * `start`, `afterSsl`, `afterGss`, `afterBoth`: no start-up packet yet; which encryption requests
 * were answered already (each may be asked for once). `login`: a password was asked for. `idle`:
 * between commands. `extended`: inside a series that ends with Sync. `skipping`: the series failed,
 * everything up to its Sync is passed over. `closed`: nothing more is read.
 */
export type Phase =
  | "start"
  | "afterSsl"
  | "afterGss"
  | "afterBoth"
  | "login"
  | "idle"
  | "extended"
  | "skipping"
  | "closed";

/** What can happen: a message, a broken one, or how an effect ended. */
export type Input =
  | StartMessage["kind"]
  | FrontendMessage["kind"]
  /** The protocol was broken: nothing that follows can be understood. */
  | "violation"
  /** The text of a Query is too long or not UTF-8; the frame around it is sound. */
  | "badQueryText"
  /** The same in any other message. */
  | "badText"
  /** The client is asked for a password or a step of SCRAM. */
  | "passwordWanted"
  /** The client proved who it is, and its session is open. */
  | "admitted"
  /** A step of the extended protocol was refused. */
  | "stepFailed"
  /** An error after which the connection can not go on was sent. */
  | "ended";

/** What is to be done, in the order given. `ready` and `flush` only write; the rest may take time. */
export type Effect =
  | "answerSsl"
  | "answerGss"
  | "cancel"
  | "start"
  | "checkPassword"
  | "query"
  | "parse"
  | "bind"
  | "describe"
  | "execute"
  | "close"
  | "sync"
  | "call"
  | "reportText"
  | "ready"
  | "flush"
  /** Sends the violation as a FATAL error. */
  | "refuse"
  | "hangUp";

export interface Transition {
  readonly next: Phase;
  readonly effects: readonly Effect[];
}

type Row = Record<Input, Transition>;

const to = (next: Phase, ...effects: Effect[]): Transition => ({ next, effects });

const refuse = to("closed", "refuse", "hangUp");
const hangUp = to("closed", "hangUp");

/** Refuses everything. Each phase writes over it what it takes. */
const nothing = {
  sslRequest: refuse,
  gssRequest: refuse,
  cancelRequest: refuse,
  startup: refuse,
  query: refuse,
  parse: refuse,
  bind: refuse,
  describe: refuse,
  execute: refuse,
  close: refuse,
  flush: refuse,
  sync: refuse,
  terminate: hangUp,
  functionCall: refuse,
  password: refuse,
  copyData: refuse,
  copyDone: refuse,
  copyFail: refuse,
  violation: refuse,
  badQueryText: refuse,
  badText: refuse,
  passwordWanted: refuse,
  admitted: refuse,
  stepFailed: refuse,
  ended: hangUp,
} as const satisfies Row;

const starting = {
  ...nothing,
  cancelRequest: to("closed", "cancel", "hangUp"),
  startup: to("start", "start"),
  passwordWanted: to("login", "flush"),
  admitted: to("idle", "ready", "flush"),
} as const satisfies Row;

const working = {
  ...nothing,
  query: to("idle", "query", "ready", "flush"),
  parse: to("extended", "parse"),
  bind: to("extended", "bind"),
  describe: to("extended", "describe"),
  execute: to("extended", "execute"),
  close: to("extended", "close"),
  sync: to("idle", "sync", "ready", "flush"),
  functionCall: to("idle", "call", "ready", "flush"),
  // The rest of a COPY that failed is ignored, as PostgreSQL does.
  copyData: to("idle"),
  copyDone: to("idle"),
  copyFail: to("idle"),
  badQueryText: to("idle", "reportText", "ready", "flush"),
  badText: to("skipping", "reportText", "flush"),
  // As from a server: a client that still writes a long series hears at once that it is in vain.
  stepFailed: to("skipping", "flush"),
} as const satisfies Row;

const passOver = to("skipping");

export const transitions = {
  start: {
    ...starting,
    sslRequest: to("afterSsl", "answerSsl"),
    gssRequest: to("afterGss", "answerGss"),
  },
  afterSsl: { ...starting, gssRequest: to("afterBoth", "answerGss") },
  afterGss: { ...starting, sslRequest: to("afterBoth", "answerSsl") },
  afterBoth: starting,
  login: {
    ...nothing,
    password: to("login", "checkPassword"),
    // SCRAM takes two messages of the client.
    passwordWanted: to("login", "flush"),
    admitted: to("idle", "ready", "flush"),
  },
  idle: { ...working, flush: to("idle", "flush") },
  extended: {
    ...working,
    flush: to("extended", "flush"),
    copyData: to("extended"),
    copyDone: to("extended"),
    copyFail: to("extended"),
  },
  skipping: {
    ...nothing,
    query: passOver,
    parse: passOver,
    bind: passOver,
    describe: passOver,
    execute: passOver,
    close: passOver,
    flush: to("skipping", "flush"),
    sync: to("idle", "sync", "ready", "flush"),
    functionCall: passOver,
    copyData: passOver,
    copyDone: passOver,
    copyFail: passOver,
    badQueryText: passOver,
    badText: passOver,
    stepFailed: passOver,
  },
  closed: {
    ...nothing,
    ...(Object.fromEntries(Object.keys(nothing).map((input) => [input, to("closed")])) as Row),
  },
} as const satisfies Record<Phase, Row>;

let lastPhase: Phase | undefined;
let lastInput: Input | undefined;
let lastTransition: Transition = hangUp;

/** The next phase and what to do. Total: an answer for every phase and input. Mostly it is the last one's. */
export function advance(phase: Phase, input: Input): Transition {
  if (phase === lastPhase && input === lastInput) return lastTransition;
  lastPhase = phase;
  lastInput = input;
  return (lastTransition = transitions[phase][input]);
}

/** True before the start-up packet, when a frame has no type byte. */
export function beforeStart(phase: Phase): boolean {
  switch (phase) {
    case "start":
    case "afterSsl":
    case "afterGss":
    case "afterBoth":
      return true;
    case "login":
    case "idle":
    case "extended":
    case "skipping":
    case "closed":
      return false;
  }
}
