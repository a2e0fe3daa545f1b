/** The audit log: nothing is changed in it, newest first, old rows go in chunks. */
import { expect } from "vitest";
import type { AuditFilter } from "../store.ts";
import type { Check } from "../store.suite.ts";
import { allPages, answered, auditOf, firstPage, startMs } from "../rig/samples.ts";

export function auditSuite(check: Check): void {
  check("gives an entry back exactly, under an id of its own", async ({ audit }) => {
    const entries = [
      auditOf(),
      auditOf(),
      auditOf({ address: undefined, detail: null, by: "host" }),
    ];
    for (const entry of entries) await answered(audit.append(entry));
    const rows = (await answered(audit.list({}, firstPage))).items;
    expect(rows.map(({ id: _id, ...row }) => row)).toEqual(entries.toReversed());
    expect(new Set(rows.map(({ id }) => id)).size).toBe(3);
  });

  check("lists newest first, in pages that new entries do not shift", async ({ audit }) => {
    for (const index of [0, 1, 2, 3, 4, 5, 6]) {
      const at = startMs + Math.floor(index / 3);
      await answered(audit.append(auditOf({ at, target: String(index) })));
    }
    const rows = await allPages(
      (page) => audit.list({}, page),
      2,
      () => answered(audit.append(auditOf({ at: startMs + 99, target: "new" }))),
    );
    expect(rows.map(({ target }) => target)).toEqual(["6", "5", "4", "3", "2", "1", "0"]);
  });

  check("finds by each field of the filter", async ({ audit }) => {
    await answered(audit.append(auditOf({ target: "a" })));
    await answered(
      audit.append(auditOf({ target: "b", by: "bob", action: "login", at: startMs + 5 })),
    );
    const found = async (filter: AuditFilter): Promise<readonly string[]> =>
      (await answered(audit.list(filter, firstPage))).items.map(({ target }) => target);
    expect(await found({ by: "bob" })).toEqual(["b"]);
    expect(await found({ action: "login" })).toEqual(["b"]);
    expect(await found({ target: "a" })).toEqual(["a"]);
    expect(await found({ from: startMs + 5 })).toEqual(["b"]);
    expect(await found({ to: startMs + 5 })).toEqual(["a"]);
    expect(await found({ by: "bob", target: "a" })).toEqual([]);
  });

  check("forgets old entries in chunks, oldest first", async ({ audit }) => {
    for (const index of [0, 1, 2, 3, 4]) {
      await answered(audit.append(auditOf({ at: startMs + index, target: String(index) })));
    }
    expect(await answered(audit.retain(startMs + 4, 3))).toBe(3);
    expect(await answered(audit.retain(startMs + 4, 3))).toBe(1);
    expect(await answered(audit.retain(startMs + 4, 3))).toBe(0);
    const rows = (await answered(audit.list({}, firstPage))).items;
    expect(rows.map(({ target }) => target)).toEqual(["4"]);
  });
}
