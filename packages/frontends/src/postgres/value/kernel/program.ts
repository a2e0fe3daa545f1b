/**
 * The loop that writes rows as DataRow frames in text format, in WebAssembly: six cells cost as much as two in plain code,
 * because numbers are divided as words and digits written eight at a time.
 *
 * `rows.ts` does the same in plain code. It writes each row that has a cell which this one leaves, and the two must agree.
 */
import {
  answer,
  assembled,
  i32,
  int,
  memory,
  shared,
  variable,
  when,
  whilst,
  type Code,
  type ValueType,
} from "@gateway/wire/assembly/assembly.ts";
import { bitOf, cellText, type CellVariables } from "./cells.ts";
import { dayGlobals, takeDay } from "./day.ts";
import { digitRoutines } from "./digits.ts";
import { entriesAt, entry, memoryPages } from "./layout.ts";

/** Globals: of a batch, and answered beside the result. `dayGlobals` follow. */
const globals = ["letter", "width", "entriesEnd", "place"] as const;
const letter = shared(0);
/** The number of columns as it stands in a frame. */
const width = shared(1);
const entriesEnd = shared(2);
/** Behind the last row that was written whole. */
const place = shared(3);

const lengthBytes = 4;
const headBytes = 7;

/** The bytes of a number of 32 bits in the other order. */
function swapped(value: Code): Code {
  return i32.or(
    i32.or(i32.left(value, int(24)), i32.left(i32.and(value, int(0xff00)), int(8))),
    i32.or(i32.and(i32.right(value, int(8)), int(0xff00)), i32.right(value, int(24))),
  );
}

/**
 * `writeRows(row, end, at, stop)`: writes rows of the piece from `row` on, until `end`, until one goes over `stop`, or
 * until one has a cell that is left to plain code. Answers the next row.
 */
function writeRows(): Code {
  const row = variable(0);
  const end = variable(1);
  const at = variable(2);
  const stop = variable(3);
  const start = variable(4);
  const column = variable(5);
  const cellStart = variable(6);
  const count = variable(7);
  const cell: CellVariables = {
    row,
    column,
    at,
    count,
    from: variable(8),
    end: variable(9),
    value: variable(10),
    rest: variable(11),
    fraction: variable(12),
    double: variable(13),
    scaled: variable(14),
    leave: answer(row.get),
  };
  const isThere = i32.or(
    i32.isZero(memory.int(column.get, entry.validity)),
    bitOf(
      memory.int(column.get, entry.validity),
      i32.add(memory.int(column.get, entry.bit), row.get),
    ),
  );
  return [
    place.set(at.get),
    whilst(i32.below(row.get, end.get), [
      start.set(at.get),
      memory.putByte(at.get, letter.get),
      memory.putShort(at.get, width.get, 5),
      at.set(i32.add(at.get, int(headBytes))),
      column.set(int(entriesAt)),
      whilst(i32.below(column.get, entriesEnd.get), [
        cellStart.set(at.get),
        at.set(i32.add(at.get, int(lengthBytes))),
        when(
          isThere,
          [
            cellText(cell),
            count.set(i32.minus(i32.minus(at.get, cellStart.get), int(lengthBytes))),
            memory.putInt(cellStart.get, swapped(count.get)),
          ],
          memory.putInt(cellStart.get, int(-1)),
        ),
        column.set(i32.add(column.get, int(entry.bytes))),
      ]),
      count.set(i32.minus(i32.minus(at.get, start.get), int(1))),
      memory.putInt(start.get, swapped(count.get), 1),
      row.set(i32.add(row.get, int(1))),
      place.set(at.get),
      when(i32.atMost(stop.get, at.get), answer(row.get)),
    ]),
    row.get,
  ];
}

const variables: readonly ValueType[] = [
  ...Array.from({ length: 6 }, () => "i32" as const),
  ...["i64", "i64", "i64"].map(() => "i64" as const),
  "f64",
  "f64",
];

/** The module. */
export function rowProgram(): Uint8Array {
  return assembled({
    memoryPages,
    globals: [...globals.map((name) => ({ name, type: "i32" as const })), ...dayGlobals],
    routines: [
      ...digitRoutines,
      takeDay(),
      { name: "writeRows", parameters: 4, variables, body: writeRows() },
    ],
  });
}
