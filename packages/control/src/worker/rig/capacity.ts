/** A control plane with one cluster in one group, and a registered worker, for the tests of capacity. */
import type {
  AcquireResponse,
  NamedLease,
  ReleaseResponse,
} from "@gateway/contract/capacityApi.ts";
import { instanceIdHeader, instanceTokenHeader } from "@gateway/contract/workerApi.ts";
import {
  registrationOf,
  testControl,
  type TestControl,
  type TestControlOptions,
} from "./control.ts";

export const first = "instance-00000001";
export const second = "instance-00000002";

type Headers = Readonly<Record<string, string>>;
type GroupSettings = Readonly<Record<string, number>>;

/** Cluster `duck` in group `main` with one slot, unless told otherwise, and worker `first`. */
export async function withCaps(group: GroupSettings = {}, options: TestControlOptions = {}) {
  const control = await testControl(options);
  const { config } = control.deps;
  const author = { by: "ann", address: undefined };
  let version = 0;

  const setGroup = async (settings: GroupSettings): Promise<void> => {
    const object = { kind: "clusterGroup", name: "main" } as const;
    const body = { members: ["duck"], maxRunningQueries: 1, ...group, ...settings };
    const expected = version === 0 ? "absent" : { version };
    const written = await config.put(object, body, expected, author);
    if (!written.ok) throw new Error(JSON.stringify(written.error));
    ({ version } = written.value.view);
    await control.host.settle();
  };

  const cluster = { kind: "cluster", name: "duck" } as const;
  const made = await config.put(cluster, { engine: "duckDb" }, "absent", author);
  if (!made.ok) throw new Error(made.error.code);
  await setGroup({});
  const headers = await registered(control, "a", first);
  return { control, headers, setGroup, token: headers[instanceTokenHeader] ?? "" };
}

/** Registers an instance; answers the headers of its calls. */
export async function registered(
  control: TestControl,
  name: string,
  instanceId: string,
): Promise<Headers> {
  const json = registrationOf(name, instanceId);
  const answer = await control.call("/register", { method: "POST", json });
  const { instanceToken } = (await answer.json()) as { instanceToken: string };
  return { [instanceIdHeader]: instanceId, [instanceTokenHeader]: instanceToken };
}

export function post(
  control: TestControl,
  path: string,
  headers: Headers,
  json: unknown,
): Promise<Response> {
  return control.call(path, { method: "POST", headers, json });
}

let requests = 0;

export function acquireBody(more: Readonly<Record<string, unknown>>) {
  requests += 1;
  return {
    requestId: `request-${requests}`,
    instanceId: first,
    group: "main",
    candidates: ["duck"],
    user: "ann",
    count: 1,
    waitMs: 0,
    ...more,
  };
}

export async function acquire(
  control: TestControl,
  headers: Headers,
  more: Readonly<Record<string, unknown>>,
): Promise<AcquireResponse> {
  const answer = await post(control, "/capacity/acquire", headers, acquireBody(more));
  if (answer.status !== 200) throw new Error(`acquire: ${answer.status}`);
  return (await answer.json()) as AcquireResponse;
}

export async function release(
  control: TestControl,
  headers: Headers,
  leases: readonly NamedLease[],
  instanceId = first,
): Promise<ReleaseResponse> {
  const named = leases.map(({ cluster, slot, lease }) => ({ cluster, slot, lease }));
  const answer = await post(control, "/capacity/release", headers, { instanceId, leases: named });
  if (answer.status !== 200) throw new Error(`release: ${answer.status}`);
  return (await answer.json()) as ReleaseResponse;
}
