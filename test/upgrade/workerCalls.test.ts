/**
 * What a worker of the first version asks of a control plane, and what it reads of the answers. Control planes are
 * upgraded first, so each later one has to answer these calls: the file is added to and never rewritten.
 */
import { readFileSync } from "node:fs";
import { instanceIdHeader, instanceTokenHeader } from "@gateway/contract/workerApi.ts";
import { withCaps } from "@gateway/control/worker/rig/capacity.ts";
import { expect, it } from "vitest";
import { z } from "zod";

const root = new URL("../../", import.meta.url);
const calls = z
  .array(
    z.strictObject({
      what: z.string(),
      method: z.enum(["GET", "POST", "DELETE"]),
      path: z.string(),
      json: z.record(z.string(), z.unknown()).optional(),
      file: z.string().optional(),
      status: z.int(),
      reads: z.array(z.string()),
      /** Values that it relies on. */
      answers: z.record(z.string(), z.unknown()).optional(),
    }),
  )
  .parse(JSON.parse(readFileSync(new URL("calls-v1.json", import.meta.url), "utf8")));

it("a worker of the first version signs in, gets its configuration, reports, shares slots, is rid of its records and goes", async () => {
  const { control } = await withCaps();
  let headers: Readonly<Record<string, string>> = {};
  let leases: readonly unknown[] = [];
  for (const { what, method, path, json, file, status, reads, answers = {} } of calls) {
    // It names the leases that it was given.
    const given = json?.["leases"] === "<granted>" ? { ...json, leases } : json;
    const body = file === undefined ? given : parsed(readFileSync(new URL(file, root), "utf8"));
    const sent = body === undefined ? {} : { json: body };
    const answer = await control.call(path, { method, headers, ...sent });
    const text = await answer.text();
    expect([what, answer.status, text.slice(0, 200)]).toEqual([what, status, expect.any(String)]);
    const answered =
      reads.length === 0 ? {} : z.record(z.string(), z.unknown()).parse(parsed(text));
    const missing = reads.filter((key) => !(key in answered));
    expect({ what, missing }).toEqual({ what, missing: [] });
    expect({ what, ...answered }).toMatchObject({ what, ...answers });
    if (path === "/capacity/acquire") leases = grantedSchema.parse(answered).granted;
    if (path === "/register") {
      headers = {
        [instanceIdHeader]: String(json?.["instanceId"]),
        [instanceTokenHeader]: String(answered["instanceToken"]),
      };
    }
  }
  const kept = await control.deps.store.records.list({}, { limit: 10, cursor: undefined });
  expect(kept.ok && kept.value.items.map(({ proxyQueryId }) => proxyQueryId).toSorted()).toEqual([
    "q1",
    "q2",
  ]);
  control.stop();
});

const grantedSchema = z.object({
  granted: z.array(z.object({ cluster: z.string(), slot: z.int(), lease: z.string() })).length(1),
});

function parsed(text: string): unknown {
  return JSON.parse(text) as unknown;
}
