/**
 * JOHAB, which says a Korean syllable by its three letters, five bits each, and the symbols and Chinese characters of
 * KS X 1001 by their places there.
 *
 * A server writes all of it and reads only the characters whose second byte is 0xA1 or above and whose first is not
 * 0x8F; the others it refuses with a word of its own, so that they are read here as it writes them.
 */
import { tableOf, type Pairs, type Table } from "../../charset/table.ts";
import { standardKorean } from "./korean.ts";

/** Letters by their five bits: a space for bits that are none, an underscore for a place that stays empty. */
const initials = " _ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ";
const medials = "  _ㅏㅐㅑㅒㅓ  ㅔㅕㅖㅗㅘㅙ  ㅚㅛㅜㅝㅞㅟ  ㅠㅡㅢㅣ";
const finals = " _ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁ ㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ";

/** Each with the row of KS X 1001 that its first byte begins, as EUC-KR has it. */
const symbols = { from: 0xd9, to: 0xde, row: 0xa1 } as const;
const hanja = { from: 0xe0, to: 0xf9, row: 0xca } as const;
/** Letters that have their own codes above are not there a second time. */
const lettersAgain = [0xdaa1, 0xdad3] as const;

export function johabTable(): Table {
  const standard = tableOf(standardKorean);
  const pairs = new Uint16Array(0x1_0000);
  putLetters(pairs);
  for (const part of [symbols, hanja]) putStandard(pairs, standard.pairs, part);
  pairs.fill(0, lettersAgain[0], lettersAgain[1] + 1);
  return { ...standard, pairs, trailMin: 0x31 };
}

function putLetters(pairs: Pairs): void {
  for (let code = 0x8400; code < 0xd400; code += 1) {
    const initial = initials.charAt((code >> 10) & 0x1f);
    const medial = medials.charAt((code >> 5) & 0x1f);
    const final = finals.charAt(code & 0x1f);
    const letters = [initial, medial, final];
    if (letters.includes(" ") || letters.includes("")) continue;
    const [alone = "", ...more] = letters.filter((letter) => letter !== "_");
    if (alone !== "" && more.length === 0) {
      // A consonant alone is an initial one; only groups of them stand as final ones.
      if (alone !== final || !initials.includes(alone)) pairs[code] = alone.charCodeAt(0);
    } else if (initial !== "_" && medial !== "_") pairs[code] = syllable(initial, medial, final);
  }
}

const known = (letters: string): string => letters.replaceAll(/[ _]/g, "");
const [initialOrder, medialOrder, finalOrder] = [known(initials), known(medials), known(finals)];
const firstSyllable = 0xac00;

/** They stand in Unicode in the order of their letters, and those that end in none before the others. */
function syllable(initial: string, medial: string, final: string): number {
  const place = initialOrder.indexOf(initial) * medialOrder.length + medialOrder.indexOf(medial);
  return firstSyllable + place * (finalOrder.length + 1) + finalOrder.indexOf(final) + 1;
}

/** Two rows to a first byte, the second one's cells from 0xA1 on. */
function putStandard(
  pairs: Pairs,
  standard: Pairs,
  { from, to, row }: { readonly from: number; readonly to: number; readonly row: number },
): void {
  for (let lead = from; lead <= to; lead += 1)
    for (let cell = 0; cell < 188; cell += 1) {
      const trail = cell < 78 ? 0x31 + cell : 0x91 + cell - 78;
      const euc = ((row + (lead - from) * 2 + (cell < 94 ? 0 : 1)) << 8) | (0xa1 + (cell % 94));
      pairs[(lead << 8) | trail] = standard[euc] ?? 0;
    }
}
