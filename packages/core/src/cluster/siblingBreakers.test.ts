import { describe, expect, it } from "vitest";
import type { Siblings, SiblingTopic } from "../port/siblings.ts";
import { virtualHost } from "../rig/virtual.ts";
import { circuitBreaker } from "./breakers.ts";

const config = { failures: 2, openSecs: 30 };
const labels = { group: "g", cluster: "c" };

describe("breakers of several processes", () => {
  it("open together, and close together when the first one's trial succeeds", async () => {
    const { host, first, second } = processes();
    fail(first, 2);
    await host.advance(0);
    expect([first.state, second.state]).toEqual(["open", "open"]);
    await host.advance(30_000);
    expect([first.state, second.runningMax()]).toEqual(["halfOpen", 0]);
    first.begin()("succeeded");
    await host.advance(0);
    expect([first.state, second.state]).toEqual(["closed", "closed"]);
  });

  it("keep their own time where both opened", async () => {
    const { host, first, second } = processes();
    fail(first, 1);
    fail(second, 2);
    fail(first, 1);
    await host.advance(30_000);
    expect([first.state, second.state]).toEqual(["halfOpen", "halfOpen"]);
  });

  it("wait for the next trial when one failed", async () => {
    const { host, first, second } = processes();
    fail(first, 2);
    await host.advance(30_000);
    fail(first, 1);
    await host.advance(30_000);
    expect([first.state, second.state]).toEqual(["halfOpen", "open"]);
  });

  it("try by themselves where the one that tries is gone", async () => {
    const { host, first, second } = processes();
    fail(first, 2);
    await host.advance(0);
    first[Symbol.dispose]();
    await host.advance(44_999);
    expect(second.state).toBe("open");
    await host.advance(1);
    expect(second.state).toBe("halfOpen");
  });

  it("leave those of other members alone, and those that are disposed", async () => {
    const { host, first, second, other } = processes();
    second[Symbol.dispose]();
    fail(first, 2);
    await host.advance(0);
    expect([second.state, other.state]).toEqual(["closed", "closed"]);
  });
});

function fail(breaker: { begin(): (outcome: "failed") => void }, times: number): void {
  for (let time = 0; time < times; time += 1) breaker.begin()("failed");
}

function processes() {
  const host = virtualHost(1);
  const [one, two] = siblingsOf();
  const at = (siblings: Siblings, of = labels) =>
    circuitBreaker(config, of, { ...host, siblings }, () => undefined);
  return { host, first: at(one), second: at(two), other: at(two, { group: "g", cluster: "d" }) };
}

type How = (question: unknown) => unknown;

function siblingsOf(): readonly [Siblings, Siblings] {
  const answers: [Map<string, How>, Map<string, How>] = [new Map(), new Map()];
  const at = (index: 0 | 1): Siblings => ({
    index,
    count: 2,
    ask: async <Question, Answer>(topic: SiblingTopic<Question, Answer>, question: Question) => {
      await Promise.resolve();
      const how = answers[index === 0 ? 1 : 0].get(topic.name);
      return how === undefined ? [] : [(await how(question)) as Answer];
    },
    answer: (topic, how) => void answers[index].set(topic.name, how as How),
  });
  return [at(0), at(1)];
}
