import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { advance, beforeStart, transitions, type Input, type Phase } from "./machine.ts";

const phases = Object.keys(transitions) as Phase[];
const inputs = Object.keys(transitions.idle) as Input[];

describe("advance", () => {
  it("has an answer for every phase and input", () => {
    expect(phases.length * inputs.length).toBeGreaterThan(200);
    for (const phase of phases) {
      expect(Object.keys(transitions[phase]).toSorted()).toEqual(inputs.toSorted());
      for (const input of inputs) expect(phases).toContain(advance(phase, input).next);
    }
  });

  it("never leaves closed and never does anything there", () => {
    for (const input of inputs)
      expect(advance("closed", input)).toEqual({ next: "closed", effects: [] });
  });

  it("passes over everything behind a failed step until Sync", () => {
    const passed: Input[] = [
      "query",
      "parse",
      "bind",
      "describe",
      "execute",
      "close",
      "functionCall",
    ];
    for (const input of passed) {
      expect(advance("skipping", input)).toEqual({ next: "skipping", effects: [] });
    }
    expect(advance("skipping", "sync")).toEqual({
      next: "idle",
      effects: ["sync", "ready", "flush"],
    });
  });

  it("skips only what belongs to a series: a simple query that fails is followed by the next command", () => {
    expect(advance("idle", "query")).toEqual({
      next: "idle",
      effects: ["query", "ready", "flush"],
    });
    // The error leaves at once: the rest of a long series need not be written any more.
    expect(advance("extended", "stepFailed")).toEqual({ next: "skipping", effects: ["flush"] });
  });

  it("answers each request for encryption once", () => {
    expect(advance("start", "sslRequest").next).toBe("afterSsl");
    expect(advance("afterSsl", "gssRequest").next).toBe("afterBoth");
    expect(advance("start", "gssRequest").next).toBe("afterGss");
    expect(advance("afterGss", "sslRequest").next).toBe("afterBoth");
    for (const phase of ["afterSsl", "afterBoth"] as const) {
      expect(advance(phase, "sslRequest").effects).toEqual(["refuse", "hangUp"]);
    }
    for (const phase of ["afterGss", "afterBoth"] as const) {
      expect(advance(phase, "gssRequest").effects).toEqual(["refuse", "hangUp"]);
    }
  });

  it("takes nothing but a password while it waits for one", () => {
    const taken: readonly Input[] = ["password", "passwordWanted", "admitted"];
    const others = inputs.filter((input) => !taken.includes(input));
    for (const input of others) expect(advance("login", input).next).toBe("closed");
    expect(advance("login", "password")).toEqual({ next: "login", effects: ["checkPassword"] });
    expect(advance("login", "admitted").next).toBe("idle");
  });

  it("refuses a second start-up, a second password and a late cancel request", () => {
    const late: Input[] = ["startup", "sslRequest", "gssRequest", "cancelRequest", "password"];
    for (const phase of ["idle", "extended", "skipping"] as const) {
      for (const input of late) expect(advance(phase, input).effects).toEqual(["refuse", "hangUp"]);
    }
  });

  it("refuses every statement before the login", () => {
    const statements: Input[] = [
      "query",
      "parse",
      "bind",
      "execute",
      "sync",
      "flush",
      "functionCall",
    ];
    for (const phase of ["start", "afterSsl", "afterGss", "afterBoth", "login"] as const) {
      for (const input of statements) {
        expect(advance(phase, input)).toEqual({ next: "closed", effects: ["refuse", "hangUp"] });
      }
    }
  });

  it("reaches a command only through the login, in whatever order messages come", () => {
    const commands = new Set(["query", "parse", "bind", "describe", "execute"]);
    const onlyAdmitted = fc.property(
      fc.array(fc.constantFrom(...inputs), { maxLength: 60 }),
      (sequence) => {
        let phase: Phase = "start";
        let admitted = false;
        for (const input of sequence) {
          const { next, effects } = advance(phase, input);
          admitted ||= input === "admitted" && phase !== "closed";
          const isCommand = effects.some((effect) => commands.has(effect));
          expect(isCommand && !admitted).toBe(false);
          phase = next;
        }
      },
    );
    fc.assert(onlyAdmitted);
  });
});

describe("beforeStart", () => {
  it("is true exactly where a packet without a type byte is read", () => {
    expect(phases.filter(beforeStart)).toEqual(["start", "afterSsl", "afterGss", "afterBoth"]);
  });
});
