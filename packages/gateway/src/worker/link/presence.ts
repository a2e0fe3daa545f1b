/**
 * Being known to the control plane: registers, sends heartbeats, and signs off. One request at a
 * time; the configuration does not depend on it.
 *
 * A heartbeat brings back the head, which confirms what runs, and the queries an operator ended.
 */
import { snapshotSchemaVersions, type SnapshotHead } from "@gateway/contract/snapshot.ts";
import {
  instanceIdHeader,
  instanceTokenHeader,
  type HeartbeatRequest,
  type RegisterRequest,
} from "@gateway/contract/workerApi.ts";
import type { Host } from "@gateway/core/port/host.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { z } from "zod";
import { callFailureText, retryAfterOf, type CallFailure, type FleetCalls } from "./fleetCalls.ts";
import { heartbeatAfterMsMin } from "../limits.ts";
import { pause, type Wake } from "@gateway/core/tool/pause.ts";
import { backoffOf } from "./backoff.ts";

/** What a heartbeat tells, besides who sends it. */
export type Report = Omit<HeartbeatRequest, "name" | "instanceId">;

/** An instance and the token that speaks for it; the next start proves with it that this one ended. */
export interface Registration {
  readonly instanceId: string;
  readonly instanceToken: string;
}

export interface PresenceParts {
  readonly host: Pick<Host, "clock" | "log" | "random" | "randomBytes">;
  readonly calls: FleetCalls;
  /** The head in an answer; undefined where it is not authentic. */
  readonly readHead: (value: unknown) => SnapshotHead | undefined;
  readonly name: string;
  readonly version: string;
  readonly heartbeatIntervalSecs: number;
  labels(): Readonly<Record<string, string>>;
  report(): Report;
  /** An authentic head came with a heartbeat. */
  headSeen(head: SnapshotHead): void;
  /** Leases that were given to others. */
  leasesLost(leases: readonly string[]): void;
  /** Ends queries of these ids; those that are gone already are no failure. */
  cancel(ids: readonly string[]): void;
  /** Proof that the previous instance of this name ended, for `instanceId`. */
  predecessorProof(instanceId: string): string | undefined;
  /** Called with each registration, for whoever keeps it. */
  registered(registration: Registration): void;
}

export interface Presence {
  /** This process's name in leases and tags. It changes when a registration was refused. */
  instanceId(): string;
  /** The last try to register or to report was not answered. */
  silent(): boolean;
  /** Headers that speak for this instance; undefined while it is not registered. */
  headers(): Readonly<Record<string, string>> | undefined;
  /** Something that a heartbeat tells has changed: the next one comes within a second. */
  poke(): void;
  /** The control plane said it does not know us: register again before anything else. */
  lost(): void;
  /** Runs until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Signs off, after `run` has ended. True when the control plane took it. */
  leave(signal: AbortSignal): Promise<boolean>;
}

const registerAnswerSchema = z.looseObject({
  // It goes into a header. A damaged one that does not fit there would fail every later call, and
  // the worker would never register again.
  instanceToken: z.string().regex(/^[\x21-\x7e]{1,4096}$/),
  duplicateName: z.boolean(),
});

const heartbeatAnswerSchema = z.looseObject({
  head: z.unknown(),
  cancel: z.array(z.string().max(128)).max(10_000).default([]),
  lostLeases: z.array(z.string().max(64)).max(10_000).default([]),
});

/** Longest text of `lastError` that a heartbeat may hold. */
const errorCharsMax = 4_096;

export function presenceOf(parts: PresenceParts): Presence {
  return new Registered(parts);
}

class Registered implements Presence {
  readonly #parts: PresenceParts;
  #instanceId: string;
  #token: string | undefined;
  /** False until the registration is made, and while it must be made again. */
  #known = false;
  #labels = "";
  #duplicate = false;
  #resting: Wake | undefined;
  #poked = false;
  #silent = false;

  constructor(parts: PresenceParts) {
    this.#parts = parts;
    this.#instanceId = newInstanceId(parts.host);
  }

  instanceId(): string {
    return this.#instanceId;
  }

  silent(): boolean {
    return this.#silent;
  }

  headers(): Readonly<Record<string, string>> | undefined {
    return this.#token === undefined ? undefined : this.#speaking(this.#token);
  }

  poke(): void {
    this.#poked = true;
    this.#resting?.wake();
  }

  lost(): void {
    this.#known = false;
    this.poke();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts.host;
    const backoff = backoffOf(this.#parts.host);
    while (!signal.aborted) {
      this.#poked = false;
      const done = await this.#once(signal);
      if (signal.aborted) return;
      this.#silent = !done.ok && done.error.code !== "refused";
      if (!done.ok) {
        // A poke does not shorten this: a control plane that is down is not asked more often.
        await pause(clock, backoff.next(retryAfterOf(done.error)), signal);
        continue;
      }
      backoff.reset();
      if (done.value === "beat") await this.#rest(signal);
    }
  }

  async leave(signal: AbortSignal): Promise<boolean> {
    const token = this.#token;
    if (token === undefined) return false;
    this.#token = undefined;
    const path = `/worker/register/${this.#instanceId}`;
    const headers = this.#speaking(token);
    const left = await this.#parts.calls.call({ method: "DELETE", path, headers }, signal);
    return left.ok;
  }

  async #rest(signal: AbortSignal): Promise<void> {
    const { host, heartbeatIntervalSecs } = this.#parts;
    await pause(host.clock, heartbeatAfterMsMin, signal);
    if (this.#poked || signal.aborted) return;
    const restMs = heartbeatIntervalSecs * 1_000 - heartbeatAfterMsMin;
    const resting = pause(host.clock, restMs, signal);
    this.#resting = resting;
    await resting;
    this.#resting = undefined;
  }

  async #once(signal: AbortSignal): Promise<Result<"registered" | "beat", CallFailure>> {
    const labels = JSON.stringify(this.#parts.labels());
    // Labels travel with the registration only, so a change of them is a new one.
    if (!this.#known || labels !== this.#labels) return this.#register(labels, signal);
    return this.#beat(signal);
  }

  async #register(labels: string, signal: AbortSignal): Promise<Result<"registered", CallFailure>> {
    const { calls, name, version, heartbeatIntervalSecs, host } = this.#parts;
    const proof = this.#parts.predecessorProof(this.#instanceId);
    const request: RegisterRequest = {
      name,
      instanceId: this.#instanceId,
      labels: { ...this.#parts.labels() },
      version,
      schemaVersions: [...snapshotSchemaVersions],
      heartbeatIntervalSecs,
      ...(proof === undefined ? {} : { predecessorProof: proof }),
    };
    const headers = this.#token === undefined ? {} : this.#speaking(this.#token);
    const answer = await calls.call(jsonPost("/worker/register", request, headers), signal);
    if (!answer.ok) {
      if (answer.error.code === "refused") {
        host.log.write("warn", "worker.registrationRefused", { status: answer.error.status });
        // The id may belong to another worker, or the token may be forgotten.
        this.#instanceId = newInstanceId(host);
        this.#token = undefined;
      }
      return answer;
    }
    const read = registerAnswerSchema.safeParse(jsonIn(answer.value.body));
    if (!read.success) return err({ code: "unreachable", detail: "registration not understood" });
    this.#token = read.data.instanceToken;
    this.#known = true;
    this.#labels = labels;
    this.#parts.registered({ instanceId: this.#instanceId, instanceToken: this.#token });
    host.log.write("info", "worker.registered", { name, instanceId: this.#instanceId });
    this.#sayDuplicate(read.data.duplicateName);
    return ok("registered");
  }

  async #beat(signal: AbortSignal): Promise<Result<"beat", CallFailure>> {
    const { calls, readHead, name, host } = this.#parts;
    const report = this.#parts.report();
    const lastError = report.lastError?.slice(0, errorCharsMax);
    const request: HeartbeatRequest = {
      ...report,
      ...(lastError === undefined ? {} : { lastError }),
      name,
      instanceId: this.#instanceId,
    };
    const headers = this.#token === undefined ? {} : this.#speaking(this.#token);
    const answer = await calls.call(jsonPost("/worker/heartbeat", request, headers), signal);
    if (!answer.ok) {
      if (answer.error.code === "refused") {
        this.#known = false;
        const reason = callFailureText(answer.error);
        host.log.write("warn", "worker.registrationLost", { reason });
      }
      return answer;
    }
    const read = heartbeatAnswerSchema.safeParse(jsonIn(answer.value.body));
    if (!read.success) return err({ code: "unreachable", detail: "heartbeat not understood" });
    const head = readHead(read.data.head);
    // A head that is not authentic changes nothing. The wait for the configuration meets it, too,
    // and reports it.
    if (head !== undefined) this.#parts.headSeen(head);
    if (read.data.lostLeases.length > 0) this.#parts.leasesLost(read.data.lostLeases);
    if (read.data.cancel.length > 0) this.#parts.cancel(read.data.cancel);
    return ok("beat");
  }

  #sayDuplicate(duplicate: boolean): void {
    if (duplicate && !this.#duplicate) {
      const { name, host } = this.#parts;
      host.log.write("warn", "worker.duplicateName", { name });
    }
    this.#duplicate = duplicate;
  }

  #speaking(token: string): Readonly<Record<string, string>> {
    return { [instanceIdHeader]: this.#instanceId, [instanceTokenHeader]: token };
  }
}

function newInstanceId(host: Pick<Host, "randomBytes">): string {
  return Buffer.from(host.randomBytes(18)).toString("base64url");
}

function jsonPost(path: string, value: unknown, headers: Readonly<Record<string, string>>) {
  return {
    method: "POST",
    path,
    headers: { ...headers, "content-type": "application/json", accept: "application/json" },
    body: Buffer.from(JSON.stringify(value), "utf8"),
  } as const;
}

/** Undefined for what is no JSON. */
export function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return undefined;
  }
}
