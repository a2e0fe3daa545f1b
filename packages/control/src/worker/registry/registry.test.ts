import { instanceTokenHeader, type HeartbeatResponse } from "@gateway/contract/workerApi.ts";
import { Secret } from "@gateway/core/secret.ts";
import { describe, expect, it } from "vitest";
import { headKeyOf, verifyHead } from "../../config/snapshot/head.ts";
import { predecessorProofOf } from "./predecessor.ts";
import { previousSecret, registrationOf, testControl, type TestControl } from "../rig/control.ts";

const first = "instance-00000001";
const second = "instance-00000002";
const third = "instance-00000003";

describe("POST /worker/register", () => {
  it("answers a token of 32 random bytes and keeps only its hash", async () => {
    const control = await testControl();
    const answer = await registered(control, "a", first);
    expect(answer.duplicateName).toBe(false);
    expect(Buffer.from(answer.instanceToken, "base64url")).toHaveLength(32);
    const other = await registered(control, "b", second);
    expect(other.instanceToken).not.toBe(answer.instanceToken);

    const rows = await control.deps.store.workers.list({ limit: 10, cursor: undefined });
    expect(JSON.stringify(rows)).toContain(first);
    expect(JSON.stringify(rows)).not.toContain(answer.instanceToken);
    expect(JSON.stringify(control.host.log.lines)).not.toContain(answer.instanceToken);
  });

  it("says duplicateName while another live instance has the name", async () => {
    const control = await testControl();
    await registered(control, "a", first);
    expect((await registered(control, "a", second)).duplicateName).toBe(true);
    expect(await idsOf(control)).toEqual([first, second]);
    expect(control.host.log.lines.map(({ event }) => event)).toContain("worker.duplicateName");
  });

  it("takes the place of an instance that is offline", async () => {
    const control = await testControl();
    await registered(control, "a", first);
    await control.host.advance(30_001);
    expect((await registered(control, "a", second)).duplicateName).toBe(false);
    expect(await idsOf(control)).toEqual([second]);
  });

  it("takes the place of an instance whose end is proven, and of no other", async () => {
    const control = await testControl();
    const { instanceToken } = await registered(control, "a", first);
    await registered(control, "a", second);
    const proof = predecessorProofOf({ instanceId: first, instanceToken }, third);
    const answer = await registered(control, "a", third, proof);
    expect(await idsOf(control)).toEqual([second, third]);
    expect(answer.duplicateName).toBe(true);
    const late = await heartbeat(control, first, { [instanceTokenHeader]: instanceToken });
    expect(late.status).toBe(403);
  });

  it("is not deceived by a proof under another token, or for another instance", async () => {
    const control = await testControl();
    const { instanceToken } = await registered(control, "a", first);
    const guesses = [
      predecessorProofOf({ instanceId: first, instanceToken: "guess" }, second),
      predecessorProofOf({ instanceId: first, instanceToken }, third),
      `${first}.`,
      first,
      "",
    ];
    for (const guess of guesses) {
      expect((await registered(control, "a", second, guess)).duplicateName).toBe(true);
      await control.deps.store.workers.remove(second);
    }
    expect(await idsOf(control)).toEqual([first]);
  });

  it("does not give a known instance id to somebody without its token", async () => {
    const control = await testControl();
    const { instanceToken } = await registered(control, "a", first);
    const json = registrationOf("b", first);
    const stolen = await control.call("/register", { method: "POST", json });
    expect([stolen.status, await codeOf(stolen)]).toEqual([409, "instanceTaken"]);

    const headers = { [instanceTokenHeader]: instanceToken };
    const own = await control.call("/register", { method: "POST", json, headers });
    expect(own.status).toBe(200);
  });

  it("names each field that is wrong, without its value", async () => {
    const json = { ...registrationOf("bad name!", "short"), secretField: "hunter2" };
    const answer = await (await testControl()).call("/register", { method: "POST", json });
    expect(answer.status).toBe(422);
    const text = await answer.text();
    expect(text).toContain('"path":"name"');
    expect(text).toContain('"path":"instanceId"');
    expect(text).not.toMatch(/hunter2|bad name/);
  });
});

describe("POST /worker/heartbeat", () => {
  it("takes the report and answers the head under the secret of the caller", async () => {
    const control = await testControl();
    await control.commit("one");
    const token = await control.register("a", first);
    await control.host.advance(5_000);
    const answer = await heartbeat(control, first, token, { secret: previousSecret });
    expect(answer.status).toBe(200);
    const { head, lostLeases, cancel } = (await answer.json()) as HeartbeatResponse;
    expect(lostLeases).toEqual([]);
    expect(cancel).toEqual([]);
    expect(head && verifyHead(head, headKeyOf(new Secret(previousSecret)))).toBe(true);

    const row = await control.deps.store.workers.get(first);
    expect(row).toMatchObject({
      value: { status: "active", lastSeenAt: control.host.clock.unixMs(), queries: [{ id: "q1" }] },
    });
  });

  it("has no head while there is no configuration", async () => {
    const control = await testControl();
    const token = await control.register("a", first);
    const answer = (await (await heartbeat(control, first, token)).json()) as HeartbeatResponse;
    expect(answer.head).toBeUndefined();
  });

  it("repeats a wish to cancel for as long as the query is reported", async () => {
    const control = await testControl();
    const token = await control.register("a", first);
    const wish = { queryId: "q1", requestedBy: "ann", requestedAt: 1 };
    await control.deps.store.workers.requestCancel(wish);
    for (const queries of [undefined, undefined, []]) {
      const report = queries === undefined ? {} : { queries };
      const answer = await heartbeat(control, first, token, report);
      const { cancel } = (await answer.json()) as HeartbeatResponse;
      expect(cancel).toEqual(queries === undefined ? ["q1"] : []);
    }
  });

  it("forgets what an older report said and this one does not", async () => {
    const control = await testControl();
    const token = await control.register("a", first);
    await heartbeat(control, first, token, { status: "error", lastError: "no" });
    await heartbeat(control, first, token);
    const row = await control.deps.store.workers.get(first);
    expect(row.ok && row.value?.lastError).toBeUndefined();
  });

  it("refuses an instance that speaks with another one's token, or with none", async () => {
    const control = await testControl();
    await control.register("a", first);
    const token = await control.register("b", second);
    for (const headers of [token, {}, { [instanceTokenHeader]: "" }]) {
      const answer = await heartbeat(control, first, headers);
      expect([answer.status, await codeOf(answer)]).toEqual([403, "notRegistered"]);
    }
  });

  it("refuses more than a thousand queries", async () => {
    const control = await testControl();
    const token = await control.register("a", first);
    const query = { id: "q", state: "running", since: 1 };
    const queries = Array.from({ length: 1_001 }, () => query);
    expect((await heartbeat(control, first, token, { queries })).status).toBe(422);
  });
});

describe("DELETE /worker/register/{instanceId}", () => {
  it("ends the registration of whoever holds its token", async () => {
    const control = await testControl();
    const token = await control.register("a", first);
    const other = await control.register("b", second);
    const path = `/register/${first}`;
    for (const headers of [{}, other]) {
      expect((await control.call(path, { method: "DELETE", headers })).status).toBe(403);
    }
    const gone = await control.call(path, { method: "DELETE", headers: token });
    expect([gone.status, await gone.text()]).toEqual([204, ""]);
    expect(await idsOf(control)).toEqual([second]);
    expect((await heartbeat(control, first, token)).status).toBe(403);
  });
});

describe("the registry without its database", () => {
  it("answers 503 with Retry-After and does not say what the database said", async () => {
    const control = await testControl();
    const token = await control.register("a", first);
    control.cut(true);
    const answers = [
      await control.call("/register", { method: "POST", json: registrationOf("b", second) }),
      await heartbeat(control, first, token),
      await control.call(`/register/${first}`, { method: "DELETE", headers: token }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
      expect(await answer.text()).not.toContain("ECONNREFUSED");
    }
    const codes = control.host.log.lines.filter(
      ({ fields }) => fields["detail"] === "ECONNREFUSED",
    );
    expect(codes).toHaveLength(3);
  });
});

async function registered(
  control: TestControl,
  name: string,
  instanceId: string,
  predecessorProof?: string,
) {
  const json = { ...registrationOf(name, instanceId), predecessorProof };
  const answer = await control.call("/register", { method: "POST", json });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { instanceToken: string; duplicateName: boolean };
}

function heartbeat(
  control: TestControl,
  instanceId: string,
  headers: Readonly<Record<string, string>>,
  { secret, ...report }: Readonly<Record<string, unknown>> & { readonly secret?: string } = {},
) {
  const queries = [{ id: "q1", group: "g", state: "running", since: 1 }];
  const call = secret === undefined ? {} : { secret };
  const json = { name: "a", instanceId, status: "active", stale: false, queries, ...report };
  return control.call("/heartbeat", { method: "POST", json, headers, ...call });
}

async function codeOf(answer: Response): Promise<string> {
  const { code } = (await answer.json()) as { code: string };
  return code;
}

async function idsOf(control: TestControl): Promise<readonly string[]> {
  const rows = await control.deps.store.workers.list({ limit: 10, cursor: undefined });
  return rows.ok ? rows.value.items.map(({ instanceId }) => instanceId) : [];
}
