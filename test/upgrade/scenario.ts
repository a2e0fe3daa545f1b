/**
 * A day of a control plane, through its store: what `record.mjs` has an earlier program do to learn its statements.
 * It is written against the store of every release from the recorded one on, so it uses what all of them have.
 */
import type { AcquireStep, CapacityStep, CapacityTerms } from "@gateway/control/store/capacity.ts";
import {
  answered,
  auditOf,
  changeOf,
  documentOf,
  firstPage,
  incomingOf,
  recordOf,
  registrationOf,
  reportOf,
  startMs,
  userOf,
} from "@gateway/control/store/rig/samples.ts";
import type { Store } from "@gateway/control/store/store.ts";

const terms: CapacityTerms = {
  leaseMs: 60_000,
  handOverMs: 20_000,
  waiterMs: 15_000,
  graceAfterMs: 15_000,
};
const process1 = "process-1";
const minuteMs = 60_000;

export async function scenario(store: Store): Promise<void> {
  await configures(store);
  await signsIn(store);
  await hearsWorkers(store);
  await givesSlots(store);
  await keepsHistory(store);
}

async function configures({ config, audit }: Store): Promise<void> {
  const first = changeOf(undefined, { puts: [documentOf("duck"), documentOf("lake")] });
  await answered(config.commit(first));
  const deletes = [{ kind: "cluster", name: "lake" }] as const;
  const second = changeOf(first.next.revision, { puts: [documentOf("duck")], deletes });
  await answered(config.commit(second));
  // Somebody was faster.
  await answered(config.commit(changeOf(first.next.revision)));
  await answered(config.head());
  await answered(config.read());
  await answered(config.newest());
  await answered(config.revision(first.next.revision));
  await answered(config.revisions(firstPage));
  await answered(config.keyIds());
  await answered(config.sealedByOthers("k2", 10));
  await answered(audit.append(auditOf({ action: "login" })));
  await answered(audit.list({ by: "ann" }, firstPage));
  await answered(config.retainRevisions(1));
  await answered(audit.retain(startMs, 100));
}

async function signsIn({ users }: Store): Promise<void> {
  await answered(users.offerSetup("token", startMs));
  await answered(users.redeemSetup("token", userOf("ann")));
  await answered(users.put(userOf("bob", { role: "viewer" }), undefined));
  await answered(users.put(userOf("bob", { role: "operator", version: 2 }), 1));
  const session = {
    idHash: "hash",
    user: "ann",
    createdAt: startMs,
    lastSeenAt: startMs,
    expiresAt: startMs + 10 * minuteMs,
    address: "192.0.2.1",
  };
  await answered(users.addSession(session));
  await answered(users.session("hash", startMs + 1, minuteMs));
  await answered(users.sessions(firstPage));
  await answered(users.list(firstPage));
  await answered(users.count());
  await answered(users.removeSession("hash"));
  await answered(users.removeSessionsOf("ann"));
  await answered(users.remove("bob", 2));
}

async function hearsWorkers({ workers }: Store): Promise<void> {
  for (const id of ["i1", "i2"]) await answered(workers.register(registrationOf(id), startMs));
  const wish = { queryId: "q1", requestedBy: "ann", requestedAt: startMs };
  await answered(workers.requestCancel(wish));
  const query = { id: "q1", group: "g", cluster: "c", state: "running", since: startMs } as const;
  const report = reportOf("i1", { queries: [query], lastError: "a reason" });
  await answered(workers.heartbeat(report, "token-i1", startMs + 5));
  await answered(workers.heartbeat(reportOf("i2"), "token-of-another", startMs + 5));
  await answered(workers.nameOf("i1", "token-i1"));
  await answered(workers.get("i1"));
  await answered(workers.list(firstPage));
  await answered(workers.remove("i2"));
  await answered(workers.forget(startMs));
}

async function givesSlots({ capacity }: Store): Promise<void> {
  const limits = {
    epoch: 1,
    sequence: 1,
    clusters: [{ cluster: "c", maxRunning: 2 }],
    members: [
      { cluster: "c", group: "g", maxRunning: 2, maxExecutionMs: undefined, maxRunningPerUser: 1 },
    ],
    groups: [{ group: "g", weight: 1, maxQueued: 10, waitMs: 300_000 }],
  };
  await answered(capacity.limit(limits, process1, terms));
  const first = await stepped(capacity, { acquires: [acquireOf("q1")] });
  const [given] = first.acquires;
  if (given === undefined || given === "refused") throw new Error("no slot was given");
  const leases = given.granted.map(({ cluster, slot, lease }) => ({ cluster, slot, lease }));
  const caller = { instance: "i1", tokenHash: "token-i1" };
  // The same user's next one has to wait, a stranger is refused, and a lease is renewed.
  await stepped(capacity, { acquires: [acquireOf("q2"), acquireOf("q3", "stranger")] });
  await answered(capacity.renew(caller, leases, terms));
  await answered(capacity.seen("i1"));
  await answered(capacity.waiting());
  await stepped(capacity, { releases: [{ caller, leases }] });
  await answered(capacity.collect(process1, terms));
  await stepped(capacity, { leaves: [{ caller, queryId: "q2" }] });
  await answered(capacity.lock("i1", minuteMs));
  await answered(capacity.tick(terms));
  await answered(capacity.dead("i1"));
  await answered(capacity.suspects());
  await answered(capacity.running());
}

function acquireOf(queryId: string, token = "token-i1"): AcquireStep {
  return {
    caller: { instance: "i1", tokenHash: token },
    requestId: `request-${queryId}`,
    group: "g",
    candidates: ["c"],
    queryId,
    user: "ann",
    ageMs: 0,
    count: 1,
    waits: true,
    sendsLimits: true,
  };
}

function stepped(capacity: Store["capacity"], step: Partial<CapacityStep>) {
  const nothing = { taken: [], missed: [], unheld: [], leaves: [], releases: [], acquires: [] };
  return answered(capacity.step({ process: process1, ...nothing, ...step }, terms));
}

async function keepsHistory({ records }: Store): Promise<void> {
  const batch = ["q1", "q2"].map((id) => incomingOf(recordOf(id, { worker: "pod-1" })));
  await answered(records.ingest(batch, startMs + minuteMs));
  // Once more, and one whose content is another.
  const again = [...batch.slice(0, 1), incomingOf(recordOf("q2", { user: "bob" }), "sha256:b")];
  await answered(records.ingest(again, startMs + minuteMs));
  await answered(records.list({ user: "ann", status: "finished" }, firstPage));
  await answered(records.list({ worker: "pod-1", frontend: "postgres" }, firstPage));
  await answered(records.get("q1"));
  await answered(records.known(["q1", "q9"]));
  await answered(records.conflicts(firstPage));
  await answered(records.retain({ before: startMs + 1, keep: 1, chunk: 100 }));
}
