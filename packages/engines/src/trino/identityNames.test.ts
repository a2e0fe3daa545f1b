/** A user's name in the header that names the user: exactly as it is, or not at all. */
import type { Backend } from "@gateway/core/port/backend.ts";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { casesOf } from "../../../../test/cases.ts";
import { hostileNames } from "../../../../test/fake/hostileNames.ts";
import { fakeTrino, type FakeTrino, type Seen } from "../../../../test/fake/trino.ts";
import { hostOf, identifiedOf, never, valueOf } from "../rig/backend.ts";
import { open } from "./adapter.ts";
import { trinoConfig } from "./config.ts";

let fake: FakeTrino;
let backend: Backend;
beforeAll(async () => {
  fake = await fakeTrino();
  const config = trinoConfig.parse({
    engine: "trino",
    endpoint: fake.origin,
    auth: { type: "basic", username: "svc", password: "secret" },
    queryAuth: { type: "impersonate" },
  });
  backend = valueOf(await open("names", config, hostOf()));
});
afterAll(async () => {
  await backend[Symbol.asyncDispose]();
  await fake[Symbol.asyncDispose]();
});

interface Outcome {
  readonly name: string;
  /** Undefined when the statement ran. */
  readonly code: string | undefined;
  /** As whom the server took each request. */
  readonly asked: readonly string[];
}

describe("a hostile user name", () => {
  it("arrives as exactly this name, or nothing is sent", async () => {
    const outcomes: Outcome[] = [];
    for (const name of hostileNames) outcomes.push(await outcomeOf(name));
    expect(outcomes.filter((one) => !isRight(one))).toEqual([]);
    expect(hostileNames.length).toBeGreaterThanOrEqual(300);
    expect(outcomes.filter(({ code }) => code === undefined).length).toBeGreaterThan(100);
  }, 30_000);

  it("of any letters does so, too", async () => {
    const latin = fc.string({ unit: fc.integer({ min: 0, max: 0x17f }).map(letterOf) });
    await fc.assert(
      fc.asyncProperty(fc.oneof(latin, fc.string({ unit: "binary" })), async (name) => {
        expect(isRight(await outcomeOf(name))).toBe(true);
      }),
      { numRuns: casesOf(20, 500) },
    );
  });

  it("that is longer than servers read is refused here, and counts against no cluster", async () => {
    expect(await outcomeOf("a".repeat(10_000))).toMatchObject({ code: "auth.noBackendIdentity" });
  });
});

function isRight({ name, code, asked }: Outcome): boolean {
  if (code === undefined) return asked.length > 0 && asked.every((one) => one === name);
  return code === "auth.noBackendIdentity" && asked.length === 0;
}

async function outcomeOf(name: string): Promise<Outcome> {
  fake.seen.length = 0;
  const backendIdentity = { mode: "impersonate", principal: name } as const;
  let code: string | undefined;
  for await (const event of backend.execute(
    { ...identifiedOf("select 1"), backendIdentity },
    never,
  )) {
    if (event.kind === "failed") ({ code } = event.error);
  }
  return { name, code, asked: fake.seen.map(readBack) };
}

/** As Trino 476 reads it: Latin-1, blanks trimmed; an empty name is the login's own. */
function readBack({ headers }: Seen): string {
  return String(headers["x-trino-user"] ?? "").trim() || "svc";
}

function letterOf(code: number): string {
  return String.fromCodePoint(code);
}
