import { virtualHost } from "@gateway/core/rig/virtual.ts";
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

  it("lets the lines of a busy process wait longer for each other, and no longer when it is quiet", async () => {
    const { host, sink, target } = sinkOf(65_536);
    const line = `${"x".repeat(499)}\n`;
    for (let n = 0; n < 10; n += 1) sink.write(line);
    await host.advance(10);
    expect(target.lengths).toEqual([5_000]);
    sink.write(line);
    await host.advance(49);
    expect(target.lengths).toEqual([5_000]);
    await host.advance(1);
    sink.write(line);
    await host.advance(10);
    expect(target.lengths).toEqual([5_000, 500, 500]);
    for (let n = 0; n < 200; n += 1) sink.write(line);
    await host.advance(50);
    expect(target.lengths.slice(3)).toEqual([65_500, 34_500]);
  });

  it("writes full pieces that came while another was written, and lets the last one wait", async () => {
    const { host, sink, target } = sinkOf(10);
    target.stands = true;
    for (let n = 0; n < 2; n += 1) sink.write(`${n}-\n`);
    await host.advance(10);
    for (let n = 2; n < 9; n += 1) sink.write(`${n}-\n`);
    target.goOn();
    await host.settle();
    expect(target.pieces).toEqual(["0-\n1-\n", "2-\n3-\n4-\n", "5-\n6-\n7-\n"]);
    await host.advance(50);
    expect(target.pieces.slice(3)).toEqual(["8-\n"]);
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
    await host.advance(100);
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

  it("writes at the end also what was not taken before", async () => {
    const { host, sink, target } = sinkOf();
    target.answers.push("EAGAIN");
    sink.write("line 0\n");
    await host.advance(10);
    sink.write("line 1\n");
    expect(target.text).toBe("");
    sink.end();
    expect(target.text).toBe(linesOf(2));
    await host.advance(100);
    expect(target.text).toBe(linesOf(2));
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

  it("writes level and time first and the event last, leaves out what is not there, and escapes", () => {
    const { sink, target } = sinkOf();
    const log = jsonLog(
      "error",
      () => {},
      () => sink,
    );
    const fields = {
      text: 'a"\n\u2028',
      none: undefined,
      nothing: null,
      no: Number.NaN,
      yes: true,
    };
    log.write("error", "some.event", fields);
    log.write("error", "bare");
    log.write("warn", "below");
    const time = /"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g;
    expect(target.text.replaceAll(time, '"time":"T"')).toBe(
      '{"level":"error","time":"T","text":"a\\"\\n\u2028","nothing":null,"no":null,"yes":true,"event":"some.event"}\n' +
        '{"level":"error","time":"T","event":"bare"}\n',
    );
    const [written = ""] = /\d{4}-[^"]+/.exec(target.text) ?? [];
    expect(Math.abs(Date.parse(written) - Date.now())).toBeLessThan(60_000);
  });

  it("writes nothing when it is silent, and counts bugs all the same", () => {
    const { sink, target } = sinkOf();
    let bugs = 0;
    const log = jsonLog(
      "silent",
      () => (bugs += 1),
      () => sink,
    );
    log.bug(new Error("secret"));
    log.write("error", "not.said");
    expect([target.text, bugs]).toEqual(["", 1]);
  });
});

/** A target that takes all, unless `answers` says otherwise or it stands still. */
class TestTarget implements LineTarget {
  readonly pieceBytesMax: number;
  readonly pieces: string[] = [];
  readonly lengths: number[] = [];
  readonly answers: (number | string)[] = [];
  stands = false;
  /** Most writes that were under way at once. */
  opened = 0;
  #open = 0;
  #held: (() => void)[] = [];

  constructor(pieceBytesMax: number) {
    this.pieceBytesMax = pieceBytesMax;
  }

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

function sinkOf(pieceBytesMax = 4_096) {
  const host = virtualHost(1);
  const target = new TestTarget(pieceBytesMax);
  return { host, target, sink: lineSink(target, host.clock, dropped) };
}

function linesOf(count: number): string {
  return Array.from({ length: count }, (_, n) => `line ${n}\n`).join("");
}

function eventOf(line: string): unknown {
  return (JSON.parse(line) as { readonly event: unknown }).event;
}
