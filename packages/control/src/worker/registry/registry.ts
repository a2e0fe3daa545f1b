/**
 * Workers come, report and go: `POST /worker/register`, `POST /worker/heartbeat`,
 * `DELETE /worker/register/{instanceId}`.
 *
 * An instance is known by its id and its token together; of the token only the hash is kept.
 */
import {
  heartbeatSchema,
  instanceTokenHeader,
  registerSchema,
  type HeartbeatResponse,
  type RegisterResponse,
  type RegisterRequest,
} from "@gateway/contract/workerApi.ts";
import type { Context } from "hono";
import type { ControlDeps } from "../../deps.ts";
import { readJson } from "../../http/body.ts";
import { tokenHashOf } from "../../http/secretCompare.ts";
import { problemResponse } from "../../problem.ts";
import type { WorkerRow } from "../../store/store.ts";
import type { WorkerEnv } from "../auth.ts";
import type { SharedCapacity } from "../capacity/capacityPort.ts";
import { heartbeatBytesMax, registerBytesMax } from "../limits.ts";
import { provesEnd } from "./predecessor.ts";
import { countedAlone } from "./countedAlone.ts";
import { invalidBody, notRegistered, storeGone } from "../refuse.ts";
import type { Current } from "../snapshot/snapshot.ts";
import { statusOf } from "../status.ts";

type WorkerContext = Context<WorkerEnv>;
type Handler = (ctx: WorkerContext) => Promise<Response>;

const noStore = { "cache-control": "no-store" } as const;

/** `POST /worker/register` */
export function register(deps: ControlDeps, shared: SharedCapacity): Handler {
  const { store, clock, log } = deps;
  return async (ctx) => {
    const body = await readJson(ctx.req.raw, { bytesMax: registerBytesMax });
    if (!body.ok) return problemResponse(body.error);
    const parsed = registerSchema.safeParse(body.value);
    if (!parsed.success) return invalidBody(parsed.error);
    const { predecessorProof: _proof, ...worker } = parsed.data;

    const known = await store.workers.get(worker.instanceId);
    if (!known.ok) return storeGone(log, known.error);
    // Otherwise any worker could take over another's instance by registering its id again.
    if (known.value !== undefined && known.value.tokenHash !== presentedHash(ctx))
      return instanceTaken();

    const instanceToken = Buffer.from(deps.randomBytes(32)).toString("base64url");
    const nowMs = clock.unixMs();
    const registration = { ...worker, tokenHash: tokenHashOf(instanceToken) };
    const registered = await store.workers.register(registration, nowMs);
    if (!registered.ok) return storeGone(log, registered.error);

    const duplicateName = await succeed({ deps, shared }, parsed.data, registered.value.sameName);
    const { name, instanceId, version } = worker;
    log.write("info", "worker.registered", { name, instanceId, version });
    if (duplicateName) log.write("warn", "worker.duplicateName", { name, instanceId });
    const answer: RegisterResponse = { instanceToken, duplicateName };
    return Response.json(answer, { headers: noStore });
  };
}

/**
 * Removes earlier instances of the name that are gone: proven to have ended, or offline. True when
 * another one is left. When an end is proven, the engines are asked at once; the leases of
 * a merely silent instance run out.
 */
async function succeed(
  {
    deps: { store, clock },
    shared,
  }: { readonly deps: ControlDeps; readonly shared: SharedCapacity },
  { instanceId, predecessorProof }: RegisterRequest,
  sameName: readonly WorkerRow[],
): Promise<boolean> {
  const nowMs = clock.unixMs();
  const ended = sameName.filter(
    (row) => predecessorProof !== undefined && provesEnd(predecessorProof, row, instanceId),
  );
  // If the store does not answer, their leases run out like any other.
  await Promise.all(ended.map((row) => shared.dead(row.instanceId)));
  const gone = sameName.filter((row) => ended.includes(row) || statusOf(row, nowMs) === "offline");
  // A row that could not be removed shows as offline, and is forgotten later.
  await Promise.all(gone.map((row) => store.workers.remove(row.instanceId)));
  return sameName.some((row) => row.instanceId !== instanceId && !gone.includes(row));
}

/** `POST /worker/heartbeat` */
export function heartbeat(deps: ControlDeps, current: Current, shared: SharedCapacity): Handler {
  const { store, clock, log } = deps;
  const lookAtAlone = countedAlone(deps);
  return async (ctx) => {
    const tokenHash = presentedHash(ctx);
    if (tokenHash === undefined) return notRegistered();
    const body = await readJson(ctx.req.raw, { bytesMax: heartbeatBytesMax });
    if (!body.ok) return problemResponse(body.error);
    const parsed = heartbeatSchema.safeParse(body.value);
    if (!parsed.success) return invalidBody(parsed.error);
    // The name was settled when the instance registered.
    const { name: _name, ...report } = parsed.data;

    const taken = await store.workers.heartbeat(
      {
        ...report,
        activeRevision: report.activeRevision,
        downloadedRevision: report.downloadedRevision,
        configSource: report.configSource,
        lastError: report.lastError,
        coordination: report.coordination,
      },
      tokenHash,
      clock.unixMs(),
    );
    if (!taken.ok) return storeGone(log, taken.error);
    if (taken.value === undefined) return notRegistered();
    const [served, lost] = await Promise.all([
      current(ctx.get("secretIndex")),
      shared.seen(report.instanceId),
      report.coordination === "local" ? lookAtAlone() : undefined,
    ]);
    const answer: HeartbeatResponse = {
      head: served?.head,
      // What is not told now is told with the next renewal.
      lostLeases: lost.ok ? lost.value : [],
      cancel: taken.value.cancel,
    };
    return Response.json(answer, { headers: noStore });
  };
}

/** `DELETE /worker/register/{instanceId}` */
export function deregister({ store, log }: ControlDeps): Handler {
  return async (ctx) => {
    const instanceId = ctx.req.param("instanceId") ?? "";
    const tokenHash = presentedHash(ctx);
    if (tokenHash === undefined) return notRegistered();
    const name = await store.workers.nameOf(instanceId, tokenHash);
    if (!name.ok) return storeGone(log, name.error);
    if (name.value === undefined) return notRegistered();
    const removed = await store.workers.remove(instanceId);
    if (!removed.ok) return storeGone(log, removed.error);
    log.write("info", "worker.deregistered", { name: name.value, instanceId });
    return new Response(null, { status: 204 });
  };
}

function presentedHash(ctx: WorkerContext): string | undefined {
  const token = ctx.req.header(instanceTokenHeader);
  return token === undefined ? undefined : tokenHashOf(token);
}

function instanceTaken(): Response {
  return problemResponse({
    status: 409,
    code: "instanceTaken",
    title: "Conflict",
    detail: "Another instance has this id; choose a new one.",
  });
}
