/** Documents and revisions at rest: exact content, pages, keys, retention. */
import { expect } from "vitest";
import type { Store } from "../store.ts";
import type { Check } from "../store.suite.ts";
import {
  allPages,
  answered,
  changeOf,
  documentOf,
  firstPage,
  revisionOf,
  storedRevisionOf,
} from "../rig/samples.ts";

export function configSuite(check: Check): void {
  check("gives documents back exactly as they were written", async ({ config }) => {
    const bodies = [
      { b: 1, a: [1e21, -0.5, 1e-7, 9_007_199_254_740_991], "": "" },
      { text: "quote ' double \" backslash \\ newline \n tab \t 你好 🦆 $1 ?" },
      [],
      "text",
      null,
      false,
    ];
    const puts = bodies.map((body, index) =>
      documentOf(`d${index}`, { body, keyIds: index === 0 ? ['k"1', "k,2", "{k}"] : [] }),
    );
    await answered(config.commit(changeOf(undefined, { puts })));
    expect((await answered(config.read())).documents).toEqual(puts);
  });

  check("gives the sealed bytes of a large revision back exactly", async ({ config }) => {
    const sealed = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31) % 256);
    const next = storedRevisionOf(revisionOf(1), { sealed });
    await answered(config.commit(changeOf(undefined, { next })));
    const newest = await answered(config.newest());
    expect(Buffer.from(newest?.sealed ?? []).equals(sealed)).toBe(true);
    expect(await answered(config.revision({ epoch: 1, sequence: 1 }))).toBeUndefined();
  });

  check("lists revisions newest first, in pages that new ones do not shift", async (store) => {
    await commitMany(store, 1, 7);
    let sequence = 7;
    const seen = await allPages(
      (page) => store.config.revisions(page),
      3,
      () => commitMany(store, (sequence += 1), 1),
    );
    expect(seen.map(({ revision }) => revision.sequence)).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect(seen.some((row) => "sealed" in row)).toBe(false);
  });

  check("answers an empty page to a cursor that nobody wrote", async ({ config, ...store }) => {
    await commitMany({ ...store, config }, 1, 2);
    for (const cursor of ["", "x", "!!", Buffer.from('["a"]').toString("base64url")]) {
      const page = { limit: 10, cursor };
      expect(await answered(config.revisions(page))).toEqual({ items: [] });
      expect(await answered(store.records.list({}, page))).toEqual({ items: [] });
      expect(await answered(store.workers.list({ ...page, cursor: "x" }))).toEqual({ items: [] });
    }
  });

  check("names every key that documents and revisions need", async ({ config }) => {
    expect(await answered(config.keyIds())).toEqual([]);
    const puts = [documentOf("a", { keyIds: ["k0", "k2"] }), documentOf("b", { keyIds: ["k2"] })];
    await answered(config.commit(changeOf(undefined, { puts })));
    expect(await answered(config.keyIds())).toEqual(["k0", "k1", "k2"]);
  });

  check("finds what other keys sealed, and puts it under the new one", async ({ config }) => {
    const puts = [
      documentOf("mixed", { keyIds: ["k1", "k2"] }),
      documentOf("new", { keyIds: ["k2"] }),
      documentOf("none"),
      documentOf("old", { keyIds: ["k1"] }),
    ];
    await answered(config.commit(changeOf(undefined, { puts })));
    await answered(config.commit(changeOf(revisionOf(1), { next: underKey(2, "k2") })));

    const others = await answered(config.sealedByOthers("k2", 10));
    expect(others.documents.map(({ name }) => name).toSorted()).toEqual(["mixed", "old"]);
    expect(others.revisions).toEqual([storedRevisionOf(revisionOf(1))]);
    const few = await answered(config.sealedByOthers("k2", 1));
    expect([few.documents.length, few.revisions.length]).toEqual([1, 1]);

    const resealed = {
      documents: others.documents.map((one) => ({ ...one, body: { under: 2 }, keyIds: ["k2"] })),
      revisions: others.revisions.map((one) => ({
        ...one,
        sealed: Uint8Array.from([9]),
        keyId: "k2",
      })),
    };
    expect(await answered(config.reseal(resealed))).toBe(3);
    expect(await answered(config.keyIds())).toEqual(["k2"]);
    expect(await answered(config.sealedByOthers("k2", 10))).toEqual({
      documents: [],
      revisions: [],
    });
    const { head, documents } = await answered(config.read());
    expect(head).toEqual(revisionOf(2));
    const mixed = { ...documentOf("mixed"), body: { under: 2 }, keyIds: ["k2"] };
    expect(documents.find(({ name }) => name === "mixed")).toEqual(mixed);
    expect((await answered(config.revision(revisionOf(1))))?.sealed).toEqual(Uint8Array.from([9]));
  });

  check("leaves alone what changed since it was read for another key", async ({ config }) => {
    const old = documentOf("duck", { keyIds: ["k1"] });
    await answered(config.commit(changeOf(undefined, { puts: [old] })));
    const changed = { ...old, version: 2, body: { changed: true } };
    await answered(config.commit(changeOf(revisionOf(1), { puts: [changed] })));
    const forged = storedRevisionOf(revisionOf(1, { hash: revisionOf(9).hash }), { keyId: "k2" });
    const rows = {
      documents: [{ ...old, keyIds: ["k2"] }, documentOf("gone", { keyIds: ["k2"] })],
      revisions: [forged],
    };
    expect(await answered(config.reseal(rows))).toBe(0);
    expect((await answered(config.read())).documents).toEqual([changed]);
    expect(await answered(config.reseal({ documents: [], revisions: [] }))).toBe(0);
  });

  check("keeps the newest revisions, and the head whatever happens", async (store) => {
    await commitMany(store, 1, 6);
    const { config } = store;
    expect(await answered(config.retainRevisions(9))).toBe(0);
    expect(await answered(config.retainRevisions(4))).toBe(2);
    expect(await answered(config.revision(revisionOf(2)))).toBeUndefined();
    expect(await answered(config.revision(revisionOf(3)))).toBeDefined();
    expect(await answered(config.retainRevisions(0))).toBe(3);
    expect((await answered(config.newest()))?.revision).toEqual(revisionOf(6));
    expect((await answered(config.revisions(firstPage))).items).toHaveLength(1);
  });
}

function underKey(sequence: number, keyId: string) {
  return storedRevisionOf(revisionOf(sequence), { keyId });
}

async function commitMany(
  { config }: Pick<Store, "config">,
  first: number,
  count: number,
): Promise<void> {
  for (let sequence = first; sequence < first + count; sequence += 1) {
    const expected = sequence === 1 ? undefined : revisionOf(sequence - 1);
    await answered(config.commit(changeOf(expected)));
  }
}
