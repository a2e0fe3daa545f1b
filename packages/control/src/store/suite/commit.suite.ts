/** What a commit of the configuration promises: all of it or nothing, one winner, a log that grows. */
import { compareRevisions, type Revision } from "@gateway/contract/revision.ts";
import fc from "fast-check";
import { expect } from "vitest";
import type { Store } from "../store.ts";
import type { Check } from "../store.suite.ts";
import {
  allPages,
  answered,
  auditOf,
  changeOf,
  documentOf,
  firstPage,
  revisionOf,
  storedRevisionOf,
} from "../rig/samples.ts";

export function commitSuite(check: Check): void {
  check("has no head, no documents and no revision before the first commit", async ({ config }) => {
    expect(await answered(config.head())).toBeUndefined();
    expect(await answered(config.read())).toEqual({ head: undefined, documents: [] });
    expect(await answered(config.newest())).toBeUndefined();
    expect(await answered(config.revisions(firstPage))).toEqual({ items: [] });
  });

  check(
    "commits head, documents, revision and audit row in one step",
    async ({ config, audit }) => {
      const first = changeOf(undefined, {
        puts: [documentOf("duck"), documentOf("old", { kind: "setting" })],
      });
      expect(await answered(config.commit(first))).toBe("committed");
      const duck = documentOf("duck", { version: 2, body: { x: 1 }, keyIds: ["k1", "k2"] });
      const second = changeOf(first.next.revision, {
        puts: [duck, documentOf("duck", { kind: "clusterGroup" })],
        deletes: [{ kind: "setting", name: "old" }],
        audit: auditOf({ action: "import", target: "config", address: undefined }),
      });
      expect(await answered(config.commit(second))).toBe("committed");

      const head = second.next.revision;
      expect(await answered(config.head())).toEqual(head);
      expect(await answered(config.read())).toEqual({ head, documents: [...second.puts] });
      expect(await answered(config.newest())).toEqual(second.next);
      expect(await answered(config.revision(revisionOf(1)))).toEqual(first.next);
      const rows = (await answered(audit.list({}, firstPage))).items;
      expect(rows.map(({ id: _id, ...row }) => row)).toEqual([second.audit, first.audit]);
    },
  );

  check("writes nothing when the head is not the expected one", async ({ config, audit }) => {
    const first = changeOf(undefined, { puts: [documentOf("duck")] });
    await answered(config.commit(first));
    const before = await answered(config.read());
    const late = [
      changeOf(undefined, { puts: [documentOf("late")], next: storedRevisionOf(revisionOf(2)) }),
      changeOf(revisionOf(1, { hash: revisionOf(9).hash }), { puts: [documentOf("late")] }),
      changeOf(revisionOf(7), { deletes: [{ kind: "cluster", name: "duck" }] }),
    ];
    for (const change of late) expect(await answered(config.commit(change))).toBe("moved");
    expect(await answered(config.read())).toEqual(before);
    expect((await answered(config.revisions(firstPage))).items).toHaveLength(1);
    expect((await answered(audit.list({}, firstPage))).items).toHaveLength(1);
  });

  check("lets exactly one of many commits on one head win", async ({ config }) => {
    for (const expected of [undefined, revisionOf(1)]) {
      const sequence = (expected?.sequence ?? 0) + 1;
      const changes = ["a", "b", "c", "d"].map((name) =>
        changeOf(expected, {
          // All but the winner's content must be gone, whoever wins.
          puts: [documentOf("same", { version: sequence, body: { name } }), documentOf(name)],
          next: storedRevisionOf(revisionOf(sequence), { summary: name }),
        }),
      );
      const answers = await Promise.all(changes.map((change) => answered(config.commit(change))));
      expect(answers.filter((answer) => answer === "committed")).toHaveLength(1);
      const winner = changes[answers.indexOf("committed")];
      expect(await answered(config.newest())).toEqual(winner?.next);
      const { documents } = await answered(config.read());
      expect(documents).toEqual(expect.arrayContaining([...(winner?.puts ?? [])]));
      expect((await answered(config.revisions(firstPage))).items).toHaveLength(sequence);
    }
  });

  check("takes a newer epoch although its sequence begins again", async ({ config }) => {
    await commitOnHead(config, revisionOf(5));
    expect(await commitOnHead(config, revisionOf(1, { epoch: 1_800_000_000 }))).toBe("committed");
    const items = (await answered(config.revisions(firstPage))).items;
    expect(items.map(({ revision }) => revision.sequence)).toEqual([1, 5]);
  });

  check(
    "throws for a log that would run backwards and for an object named twice",
    async (store) => {
      const { config } = store;
      await commitOnHead(config, revisionOf(5));
      const backwards = changeOf(revisionOf(5), { next: storedRevisionOf(revisionOf(4)) });
      await expect(config.commit(backwards)).rejects.toThrow(/newer/);
      const twice = changeOf(revisionOf(5), {
        puts: [documentOf("duck")],
        deletes: [{ kind: "cluster", name: "duck" }],
      });
      await expect(config.commit(twice)).rejects.toThrow(/twice/);
    },
  );

  check("never loses a committed document, whatever way writers interleave", async (store) => {
    const names = ["a", "b", "c"];
    const model = new Map<string, number>();
    let committed: readonly Revision[] = [];
    const step = fc.record({
      writer: fc.nat(2),
      look: fc.boolean(),
      name: fc.constantFrom(...names),
      remove: fc.boolean(),
    });
    const steps = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 8 });
    const kept = fc.asyncProperty(steps, async (rounds) => {
      const believed = new Map<number, Revision | undefined>();
      for (const round of rounds) {
        const tries = round.map((one) => tried(store, believed, model, one));
        const won = (await Promise.all(tries)).flatMap((revision) => revision ?? []);
        expect(won.length).toBeLessThanOrEqual(1);
        committed = [...committed, ...won];
      }
      const { head, documents } = await answered(store.config.read());
      expect(head).toEqual(committed.at(-1));
      expect(new Map(documents.map(({ name, version }) => [name, version]))).toEqual(model);
    });
    await fc.assert(kept, { numRuns: 25, endOnFailure: true });
    expect(committed).toEqual(committed.toSorted(compareRevisions));
    const log = await allPages((page) => store.config.revisions(page), 7);
    expect(log.map(({ revision }) => revision)).toEqual(committed.toReversed());
  });

  check("wakes those who watch after a commit, and nobody who stopped", async ({ config }) => {
    let stray = 0;
    const left = config.watch(() => {
      stray += 1;
    });
    await left[Symbol.asyncDispose]();
    const before = stray;
    let wake = (): void => {};
    await using _watch = config.watch(() => {
      wake();
    });
    for (const sequence of [1, 2, 3]) {
      const woken = new Promise<void>((resolve) => {
        const look = async (): Promise<void> => {
          if ((await answered(config.head()))?.sequence === sequence) resolve();
        };
        wake = () => void look();
      });
      expect(await commitOnHead(config, revisionOf(sequence))).toBe("committed");
      await woken;
    }
    expect(stray).toBe(before);
  });
}

async function commitOnHead(
  config: Store["config"],
  revision: Revision,
): Promise<"committed" | "moved"> {
  const expected = await answered(config.head());
  return await answered(config.commit(changeOf(expected, { next: storedRevisionOf(revision) })));
}

/** One writer's step: looks at the head, or commits on what it last saw. Answers what it committed. */
async function tried(
  { config }: Store,
  believed: Map<number, Revision | undefined>,
  model: Map<string, number>,
  step: { writer: number; look: boolean; name: string; remove: boolean },
): Promise<Revision | undefined> {
  if (step.look || !believed.has(step.writer)) {
    believed.set(step.writer, await answered(config.head()));
    return undefined;
  }
  const expected = believed.get(step.writer);
  const next = revisionOf((expected?.sequence ?? 0) + 1);
  const document = documentOf(step.name, { version: next.sequence });
  const change = changeOf(expected, {
    next: storedRevisionOf(next),
    puts: step.remove ? [] : [document],
    deletes: step.remove ? [document] : [],
  });
  const answer = await answered(config.commit(change));
  if (answer === "moved") return undefined;
  if (step.remove) model.delete(step.name);
  else model.set(step.name, document.version);
  return next;
}
