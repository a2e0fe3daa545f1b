import { virtualHost } from "@gateway/core/port/virtual.ts";
import { describe, expect, it } from "vitest";
import { lineSink, type LineTarget } from "./lineSink.ts";
import { jsonLog } from "./log.ts";

const dropped = (count: number): string => `dropped ${count}\n`;

describe("lineSink", () => {
  it("writes nothing in the turn of a query, and all lines in their order some milliseconds later", async () => {
    const { host, sink, target } = sinkOf();
    for (let n = 0; n < 1_000; n += 1) sink.write(`line ${n}\n`);
    expect(target.text).toBe("");
    await host.advance(10);
    expect(target.text).toBe(linesOf(1_000));
    expect(target.opened).toBe(1);
    expect(target.lengths.every((length) => length <= 4_096)).toBe(true);
    // Whole lines only: other processes may write to the same pipe.
    expect(target.pieces.every((piece) => piece.endsWith("\n"))).toBe(true);
  });

  it("writes the rest of what was taken in part, and again what was not taken", async () => {
    const { host, sink, target } = sinkOf();
    target.answers.push(3, "EAGAIN", 2);
    sink.write("line 0\n");
    sink.write("line 1\n");
    await host.advance(100);
    expect(target.text).toBe(linesOf(2));
  });

  it("keeps no more than its limit for a reader that stands still, and says how much was lost", async () => {
    const { host, sink, target } = sinkOf();
    target.stands = true;
    const line = `${"x".repeat(999_999)}\n`;
    for (let n = 0; n < 20; n += 1) sink.write(line);
    await host.advance(10);
    for (let n = 0; n < 20; n += 1) sink.write(line);
    target.goOn();
    await host.advance(10);
    const counts = target.text.match(/dropped \d+/gu) ?? [];
    const lost = counts.reduce((sum, text) => sum + Number(text.slice("dropped ".length)), 0);
    expect(target.text.split(line).length - 1).toBe(40 - lost);
    expect(lost).toBe(31);
  });

  it("has written everything when it was flushed, also behind what the other thread writes at the end", async () => {
    const { host, sink, target } = sinkOf();
    sink.write("line 0\n");
    sink.flush();
    expect(target.text).toBe(linesOf(1));
    target.stands = true;
    sink.write("line 1\n");
    await host.advance(10);
    sink.write("line 2\n");
    // The reader stands still, and nobody waits for it.
    sink.flush();
    expect(target.text).toBe(linesOf(1));
    sink.end();
    target.goOn();
    await host.advance(1_000);
    expect(target.text.split("\n").toSorted()).toEqual(linesOf(3).split("\n").toSorted());
  });

  it("loses nothing to a full pipe at a flush, and gives up on a reader that is gone", async () => {
    const { host, sink, target } = sinkOf();
    target.answers.push("EAGAIN");
    sink.write("line 0\n");
    sink.flush();
    await host.advance(10);
    expect(target.text).toBe(linesOf(1));
    target.answers.push("EPIPE", "EPIPE");
    sink.write("gone\n");
    sink.end();
    expect(host.timerCount).toBe(0);
    expect(target.text).toBe(linesOf(1));
  });
});

describe("jsonLog", () => {
  it("writes what is said of an error before it goes on, and other lines later, in their order", async () => {
    const { host, sink, target } = sinkOf();
    const log = jsonLog(
      "info",
      () => {},
      () => sink,
    );
    log.write("debug", "not.said");
    log.write("info", "query.ended", { rows: 1 });
    expect(target.text).toBe("");
    log.bug(new Error("secret"), { queryId: "q" });
    log.write("info", "later");
    const events = () => target.text.trim().split("\n").map(eventOf);
    expect(events()).toEqual(["query.ended", "internal.bug"]);
    await host.advance(10);
    expect(events()).toEqual(["query.ended", "internal.bug", "later"]);
    expect(target.text).not.toContain("secret");
  });
});

/** A target that takes all, unless `answers` says otherwise or it stands still. */
class TestTarget implements LineTarget {
  readonly pieces: string[] = [];
  readonly lengths: number[] = [];
  readonly answers: (number | string)[] = [];
  stands = false;
  /** Most writes that were under way at once. */
  opened = 0;
  #open = 0;
  #held: (() => void)[] = [];

  get text(): string {
    return this.pieces.join("");
  }

  write(bytes: Uint8Array, done: (taken: number, failure: string | undefined) => void): void {
    this.#open += 1;
    this.opened = Math.max(this.opened, this.#open);
    const finish = (): void => {
      this.#open -= 1;
      const answer = this.#take(bytes);
      if (typeof answer === "number") done(answer, undefined);
      else done(0, answer);
    };
    if (this.stands) this.#held.push(finish);
    else queueMicrotask(finish);
  }

  writeNow(bytes: Uint8Array): number | string {
    return this.#take(bytes);
  }

  goOn(): void {
    this.stands = false;
    for (const finish of this.#held.splice(0)) finish();
  }

  #take(bytes: Uint8Array): number | string {
    const answer = this.answers.shift() ?? bytes.length;
    if (typeof answer !== "number") return answer;
    this.pieces.push(Buffer.from(bytes.subarray(0, answer)).toString("utf8"));
    this.lengths.push(answer);
    return answer;
  }
}

function sinkOf() {
  const host = virtualHost(1);
  const target = new TestTarget();
  return { host, target, sink: lineSink(target, host.clock, dropped) };
}

function linesOf(count: number): string {
  return Array.from({ length: count }, (_, n) => `line ${n}\n`).join("");
}

function eventOf(line: string): unknown {
  return (JSON.parse(line) as { readonly event: unknown }).event;
}
