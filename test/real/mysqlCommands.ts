/** Commands of MySQL's protocol by chance, in an order that no driver would pick. */
import { Buffer } from "node:buffer";
import { Chance } from "@gateway/wire/http/rig/responses.ts";
import { kept, several, texts } from "./mysqlCommandTexts.ts";
import { valueOf, type Value } from "./mysqlValues.ts";

/** How an answer is read: some commands have none, and one answers with a text. */
export type Reading = "result" | "prepared" | "none" | "fetched" | "listed" | "text";

export interface Command {
  readonly shown: string;
  readonly reading: Reading;
  /** Its bytes; a statement's id is the server's own. */
  readonly bytes: (ids: readonly number[]) => Buffer;
}

export function commandsOf(seed: number): readonly Command[] {
  const chance = new Chance(seed);
  const all: Command[] = [];
  for (let count = 4 + chance.below(16); count > 0; count -= 1) all.push(...stepOf(chance));
  return all;
}

function stepOf(chance: Chance): readonly Command[] {
  const at = chance.below(3);
  switch (chance.below(17)) {
    case 0:
      return [fixed("ping", 0x0e, "result")];
    case 1:
      return [named("init db", 0x02, chance.pick(["demo", "missing", ""]), "result")];
    case 2:
      return [named("query", 0x03, chance.pick(several), "result")];
    case 3:
    case 4:
      return [named("prepare", 0x16, chance.pick(kept), "prepared")];
    case 5:
    case 6:
    case 7: {
      const prepare = named("prepare", 0x16, chance.pick(kept), "prepared");
      return [prepare, executed(-1, chance)];
    }
    case 8:
      return [executed(at, chance)];
    case 9:
      return [fetched(at, chance)];
    case 10:
      return [of(`reset ${at}`, "result", (ids) => [0x1a, ...u32(idOf(ids, at))])];
    case 11:
      return [of(`close ${at}`, "none", (ids) => [0x19, ...u32(idOf(ids, at))])];
    case 12:
      if (chance.below(4) === 0) return [fixed("reset connection", 0x1f, "result")];
      return [setOption(chance.below(3))];
    case 13:
      return besideCursor(chance);
    default:
      return [named("query", 0x03, chance.pick(texts), "result")];
  }
}

/** A cursor, in a transaction or not, and what its session does between two fetches. */
function besideCursor(chance: Chance): readonly Command[] {
  const begins = chance.below(2) === 0 ? [named("query", 0x03, "begin", "result")] : [];
  const sql = chance.pick(["select a from called order by a", "select a, b from called"] as const);
  const between = (): readonly Command[] =>
    chance.below(2) === 0 ? [] : [named("query", 0x03, chance.pick(texts), "result")];
  return [
    ...begins,
    named("prepare", 0x16, sql, "prepared"),
    executed(-1, chance, { values: [], cursor: 1 }),
    ...between(),
    fetched(-1, chance),
    ...between(),
    fetched(-1, chance),
  ];
}

function fetched(at: number, chance: Chance): Command {
  const rows = chance.below(3);
  const bytes = (ids: readonly number[]) => [0x1c, ...u32(idOf(ids, at)), ...u32(rows)];
  return of(`fetch ${at} ${rows}`, "fetched", bytes);
}

interface Wanted {
  readonly values: readonly Value[];
  readonly cursor: 0 | 1;
}

/** An Execute with as many values as chance has it, and sometimes a cursor. */
function executed(at: number, chance: Chance, wanted?: Wanted): Command {
  const { values, cursor } = wanted ?? {
    values: Array.from({ length: chance.below(3) }, () => valueOf(chance)),
    cursor: chance.below(6) === 0 ? 1 : 0,
  };
  const shown = `execute ${at} [${values.map((one) => one.shown).join(", ")}] ${cursor}`;
  return of(shown, "result", (ids) => {
    const head = [0x17, ...u32(idOf(ids, at)), cursor, ...u32(1)];
    if (values.length === 0) return head;
    const nulls = values.reduce(
      (bits, { bytes }, index) => bits | (bytes === undefined ? 1 << index : 0),
      0,
    );
    const types = values.flatMap(({ type, unsigned }) => [type, unsigned ? 0x80 : 0]);
    return [...head, nulls, 1, ...types, ...values.flatMap(({ bytes = [] }) => bytes)];
  });
}

function of(
  shown: string,
  reading: Reading,
  bytes: (ids: readonly number[]) => readonly number[],
): Command {
  return { shown, reading, bytes: (ids) => Buffer.from(bytes(ids)) };
}

/** 0 and 1 turn several statements in one text on and off. */
function setOption(option: number): Command {
  return of(`set option ${option}`, "listed", () => [0x1b, option, 0]);
}

function fixed(shown: string, code: number, reading: Reading): Command {
  return of(shown, reading, () => [code]);
}

function named(shown: string, code: number, text: string, reading: Reading): Command {
  return of(`${shown} ${text}`, reading, () => [code, ...Buffer.from(text)]);
}

/** -1 is the newest; what was never prepared has an id that no server gives. */
function idOf(ids: readonly number[], at: number): number {
  return ids.at(at) ?? 4_000;
}

function u32(value: number): readonly number[] {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return [...bytes];
}
