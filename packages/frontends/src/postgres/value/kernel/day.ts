/** The kernel's calendar: ten bytes of a day, kept from one cell to the next, for rows of one day often stand together. */
import {
  answer,
  i32,
  i64,
  int,
  long,
  memory,
  shared,
  variable,
  when,
  type Code,
  type Routine,
  type Variable,
} from "@gateway/wire/assembly/assembly.ts";
import { asciiEight } from "./digits.ts";

/** 0001-01-01 and the days up to 9999-12-31, which have ten bytes. */
const first = -719_162;
const days = 3_652_059;
/** Days from 0000-03-01 to 1970-01-01: years begin in March, behind the leap day. */
const toEpoch = 719_468;
const perEra = 146_097;
export const dayBytes = 10;
const dash = 0x2d;

/** Globals of the kernel, in this order from `dayGlobalsFrom` on. */
export const dayGlobals = [
  { name: "lastDay", type: "i32" },
  { name: "lastUsual", type: "i32" },
  { name: "dayHead", type: "i64" },
  { name: "dayTail", type: "i32" },
] as const;
export const dayGlobalsFrom = 4;
const lastDay = shared(dayGlobalsFrom);
const lastUsual = shared(dayGlobalsFrom + 1);
/** `2024-02-`, and `29`. */
const head = shared(dayGlobalsFrom + 2);
const tail = shared(dayGlobalsFrom + 3);

/** Writes the day that was taken. */
export const putDay = (at: Code): Code => [
  memory.putLong(at, head.get),
  memory.putShort(at, tail.get, 8),
];

/** `takeDay(days)`: 1 when the day has ten bytes, which `putDay` writes then. */
export function takeDay(): Routine {
  const day = variable(0);
  const parts: Parts = {
    era: variable(1),
    ofEra: variable(2),
    year: variable(3),
    ofYear: variable(4),
    march: variable(5),
    month: variable(6),
  };
  const { year, month, ofYear } = parts;
  const digits = variable(7);
  const body: Code = [
    when(i32.and(lastUsual.get, i32.equal(day.get, lastDay.get)), answer(int(1))),
    lastDay.set(day.get),
    // Below the first day the difference is beyond any day as a number without a sign.
    lastUsual.set(i32.belowUnsigned(i32.minus(day.get, int(first)), int(days))),
    when(i32.isZero(lastUsual.get), answer(int(0))),
    civil(day.get, parts),
    digits.set(
      asciiEight(
        i64.ofInt(
          i32.add(
            i32.times(i32.add(i32.times(year.get, int(100)), month.get), int(100)),
            i32.add(ofYear.get, int(1)),
          ),
        ),
      ),
    ),
    tail.set(i64.toInt(i64.right(digits.get, long(48n)))),
    head.set(
      i64.or(
        i64.or(
          i64.and(digits.get, long(0xffff_ffffn)),
          i64.left(i64.and(i64.right(digits.get, long(32n)), long(0xffffn)), long(40n)),
        ),
        long(BigInt.asIntN(64, (BigInt(dash) << 32n) | (BigInt(dash) << 56n))),
      ),
    ),
    int(1),
  ];
  const variables = [...Object.keys(parts).map(() => "i32" as const), "i64" as const];
  return { name: "takeDay", parameters: 1, variables, body };
}

type Parts = Record<"era" | "ofEra" | "year" | "ofYear" | "march" | "month", Variable>;

const over = (value: Code, by: number): Code => i32.over(value, int(by));

/** `calendar.ts` of core has the same in plain code. Leaves year, month, and in `ofYear` the day of the month from 0. */
function civil(day: Code, { era, ofEra, year, ofYear, march, month }: Parts): Code {
  return [
    ofEra.set(i32.add(day, int(toEpoch))),
    era.set(over(ofEra.get, perEra)),
    ofEra.set(i32.minus(ofEra.get, i32.times(era.get, int(perEra)))),
    year.set(
      over(
        i32.minus(
          i32.add(i32.minus(ofEra.get, over(ofEra.get, 1460)), over(ofEra.get, 36_524)),
          over(ofEra.get, 146_096),
        ),
        365,
      ),
    ),
    ofYear.set(
      i32.add(
        i32.minus(i32.minus(ofEra.get, i32.times(year.get, int(365))), over(year.get, 4)),
        over(year.get, 100),
      ),
    ),
    march.set(over(i32.add(i32.times(ofYear.get, int(5)), int(2)), 153)),
    ofYear.set(i32.minus(ofYear.get, over(i32.add(i32.times(march.get, int(153)), int(2)), 5))),
    month.set(i32.add(march.get, int(3))),
    year.set(i32.add(year.get, i32.times(era.get, int(400)))),
    when(i32.below(int(12), month.get), [
      month.set(i32.minus(month.get, int(12))),
      year.set(i32.add(year.get, int(1))),
    ]),
  ];
}
