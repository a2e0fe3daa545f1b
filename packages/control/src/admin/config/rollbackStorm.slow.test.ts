/**
 * Rollbacks and edits at once by two control planes over one database. An edit whose object moved is told so. A
 * rollback reads and writes the whole: beside another that writes without a pause it may lose sixteen races in a row,
 * and is then told to come again, with nothing written.
 */
import { drizzleStore } from "../../store/drizzle.ts";
import { testDatabase } from "../../store/rig/database.ts";
import { systemClock } from "@gateway/gateway/host/clock.ts";
import { expect, it } from "vitest";
import { casesOf } from "../../../../../test/cases.ts";
import { fileOf, testAdmin } from "../rig/admin.ts";

const lanes = 6;
const requestsOfLane = casesOf(60, 150);

it("carries out every rollback beside another's edits", async () => {
  await using pglite = await testDatabase();
  const store = drizzleStore(pglite.database, { clock: systemClock });
  // Two control planes, of which each writes under the other.
  const admins = [await testAdmin({ store, file: fileOf }), await testAdmin({ store })] as const;
  const statuses = new Map<string, number>();
  const lane = async (index: number): Promise<void> => {
    for (let at = 0; at < requestsOfLane; at += 1) {
      const { name, status } = await asked(admins[index % 2 === 0 ? 0 : 1], index + at * lanes);
      const key = `${name} ${status}`;
      statuses.set(key, (statuses.get(key) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
  const asRollbacks = (lanes * requestsOfLane) / 3;
  expect(Object.fromEntries(statuses)).toEqual({
    "list 200": asRollbacks,
    "rollback 200": asRollbacks,
    "edit 200": expect.any(Number),
    "edit 412": expect.any(Number),
  });
}, 300_000);

type Admin = Awaited<ReturnType<typeof testAdmin>>;

async function asked(admin: Admin, number: number) {
  const kind = number % 3;
  if (kind === 0) return rolledBack(admin, number);
  if (kind === 1) return edited(admin, number);
  const { status } = await admin.ask("GET", "/admin/revisions?limit=5");
  return { name: "list", status };
}

async function rolledBack(admin: Admin, number: number) {
  const list = await admin.json("GET", "/admin/revisions?limit=20");
  const items = (list.body["items"] ?? []) as readonly { epoch: number; sequence: number }[];
  const one = items[number % Math.max(1, items.length)];
  const position = one === undefined ? "1.1" : `${one.epoch}.${one.sequence}`;
  for (;;) {
    const answer = await admin.ask("POST", `/admin/revisions/${position}/rollback`);
    if (answer.status !== 503) return { name: "rollback", status: answer.status };
    expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(await answer.json()).toMatchObject({
      code: "unavailable",
      detail: expect.stringContaining("Nothing of this was written"),
    });
  }
}

async function edited(admin: Admin, number: number) {
  const path = "/admin/groups/all";
  const read = await admin.ask("GET", path);
  const { body } = (await read.json()) as { body: object };
  const headers = { "if-match": read.headers.get("etag") ?? "" };
  const json = { ...body, maxRunningQueries: 1 + (number % 50) };
  const { status } = await admin.ask("PUT", path, { headers, json });
  return { name: "edit", status };
}
