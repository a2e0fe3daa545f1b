/** Text of what is bytes already (text, json, binary, uuid) and of booleans. */
import type { CellWriter } from "../cellWriter.ts";
import type { TextStyle } from "../text.ts";
import type { Vector } from "../vector.ts";
import { putAscii, quote } from "./digits.ts";
import { cellsOf, quotedWriter } from "./integer.ts";

const backslash = 0x5c;
/** Above this length one call that copies beats a loop over the bytes. */
const copyByLoopMax = 48;
/** Up to this length the bound of an escaped text is the worst case; above it the cell is measured. */
const worstCaseMax = 1024;

const lowerHex = hexDigits("0123456789abcdef");
const upperHex = hexDigits("0123456789ABCDEF");
const base64Digits = hexDigits("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");

function hexDigits(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Start and end of variable-length cells. */
interface Ranges {
  readonly values: Uint8Array;
  startOf(row: number): number;
  endOf(row: number): number;
}

function rangesOf(vector: Vector): Ranges {
  const { values, offset } = vector;
  const offsets = vector.offsets ?? new Int32Array(1);
  return {
    values,
    startOf: (row) => offsets[offset + row] ?? 0,
    endOf: (row) => offsets[offset + row + 1] ?? 0,
  };
}
