import { EventEmitter } from "node:events";
import type { SiblingTopic } from "@gateway/core/port/siblings.ts";
import { virtualHost } from "@gateway/core/rig/virtual.ts";
import { expect, test } from "vitest";
import { Channel, type Port } from "./channel.ts";
import type { ToParent } from "./message.ts";
import { Switchboard, type Line } from "./switchboard.ts";

const doubling: SiblingTopic<number, number> = { name: "double" };

/** Processes of one program whose messages cross as JSON. */
function crewOf(count: number) {
  const host = virtualHost(1);
  const switchboard = new Switchboard(host.clock);
  const members = Array.from({ length: count }, (_none, index) => {
    const port = new EventEmitter() as EventEmitter & Port;
    const line: Line = {
      index,
      send: (message) => port.emit("message", JSON.parse(JSON.stringify(message))),
    };
    port.send = (message) => {
      const told = JSON.parse(JSON.stringify(message)) as ToParent;
      if (told.kind !== "started") switchboard.take(line, told);
      return true;
    };
    switchboard.join(line);
    return { port, line, channel: new Channel({ index, count }, port, host.log) };
  });
  return { host, switchboard, members };
}

test("who asks hears the others, not itself; who names one hears that one", async () => {
  const { members } = crewOf(3);
  for (const { channel } of members) {
    channel.answer(doubling, (value) => Promise.resolve(value * 2 + channel.index));
  }
  const [first] = members;
  expect(await first?.channel.ask(doubling, 10)).toEqual([21, 22]);
  expect(await first?.channel.ask(doubling, 10, 2)).toEqual([22]);
  expect(await first?.channel.ask(doubling, 10, 0)).toEqual([]);
});

test("one that has no answer, is gone or is late is left out", async () => {
  const { host, members, switchboard } = crewOf(4);
  const [first, second, third, fourth] = members;
  second?.channel.answer(doubling, () => new Promise(() => {}));
  third?.channel.answer(doubling, () => new Promise(() => {}));
  fourth?.channel.answer(doubling, (value) => value * 2);
  const asked = first?.channel.ask(doubling, 1);
  if (third !== undefined) switchboard.leave(third.line);
  await host.advance(2_000);
  expect(await asked).toEqual([2]);
});

test("nobody answers for another process", async () => {
  const { members, switchboard } = crewOf(2);
  const [first, second] = members;
  second?.channel.answer(doubling, () => new Promise(() => {}));
  const asked = switchboard.ask(doubling, 1, (index) => index === 1);
  if (first !== undefined) switchboard.take(first.line, { kind: "answer", id: 1, answer: 7 });
  if (second !== undefined) switchboard.take(second.line, { kind: "answer", id: 1, answer: 2 });
  expect([...(await asked)]).toEqual([[1, 2]]);
});

test("a signal that comes before anybody waits for it is not lost", async () => {
  const { members } = crewOf(1);
  const [only] = members;
  only?.line.send({ kind: "stop", signal: "SIGTERM" });
  expect(await only?.channel.nextSignal()).toBe("SIGTERM");
  const second = only?.channel.nextSignal();
  only?.line.send({ kind: "stop", signal: "SIGINT" });
  expect(await second).toBe("SIGINT");
});
