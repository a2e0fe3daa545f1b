import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { Heard } from "./heard.ts";

describe("Heard", () => {
  it("tells whoever listens at the time, as an emitter does", () => {
    const told: string[] = [];
    const emitter = new EventEmitter();
    const heard = new Heard<string>(emitter);
    const first = (bytes: string): void => void told.push(`first ${bytes}`);
    const second = (bytes: string): void => void told.push(`second ${bytes}`);
    heard.tell("nobody");
    emitter.once("data", first);
    heard.tell("a");
    heard.tell("nobody");
    emitter.on("data", first);
    heard.tell("b");
    emitter.on("end", second);
    emitter.on("data", second);
    heard.tell("c");
    emitter.off("data", first);
    heard.tell("d");
    emitter.removeAllListeners("data");
    heard.tell("nobody");
    emitter.on("data", first);
    heard.tell("e");
    const expected = ["first a", "first b", "first c", "second c", "second d", "first e"];
    expect(told).toEqual(expected);
  });

  it("does not go on to the next one when the first took itself away", () => {
    const told: string[] = [];
    const emitter = new EventEmitter();
    const heard = new Heard<string>(emitter);
    emitter.once("data", (bytes: string) => {
      told.push(bytes);
      emitter.on("data", (more: string) => void told.push(`more ${more}`));
    });
    heard.tell("a");
    heard.tell("b");
    expect(told).toEqual(["a", "more b"]);
  });
});
