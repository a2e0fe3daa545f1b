/** What a server says of its own accord, on its way to a client at rest and to one that waits. */
import { expect, it } from "vitest";
import { Outbox } from "../outbox.ts";
import { Heard } from "./heard.ts";

function hearing() {
  const sent: string[] = [];
  const out = new Outbox((bytes) => void sent.push(Buffer.from(bytes).toString("latin1")));
  const heard = new Heard({ out, gone: () => undefined, process: 1, kept: () => undefined });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const tell = async (text: string): Promise<void> => {
    await heard.listener(true).message(Buffer.from(text, "latin1"));
  };
  return { sent, out, heard, turn, tell };
}

it("what a server says at once leaves at once for a client at rest", async () => {
  const { sent, turn, tell } = hearing();
  await tell("one ");
  await tell("two");
  await turn();
  await tell("three");
  await turn();
  expect(sent).toEqual(["one two", "three"]);
});

it("goes before the answer of a question that came meanwhile, and behind that of one that is open", async () => {
  const { sent, out, heard, turn, tell } = hearing();
  await tell("before ");
  heard.work();
  out.writer.bytes(Buffer.from("answer "));
  await turn();
  await tell("behind");
  expect(sent).toEqual([]);
  heard.rest();
  void out.flush();
  expect(sent).toEqual(["before answer behind"]);
});

it("more than a client reads is waited for", async () => {
  const { sent, tell } = hearing();
  await tell("x".repeat(64 * 1024));
  expect(sent).toHaveLength(1);
});
