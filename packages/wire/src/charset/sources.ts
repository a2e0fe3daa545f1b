/**
 * The characters of sets of several bytes: what the runtime's decoder reads, and where the servers read otherwise. The
 * names are MySQL's.
 *
 * Source: `CONVERT(_set X'…' USING utf32)` of MySQL 9 for every byte, every two and every three. MariaDB 10.11 and 11
 * read the same, and have no gb18030. `convert_from` of PostgreSQL 15 and 18 reads the same too but for what
 * `postgres/charset/` says.
 */
import type { Source, Span } from "./source.ts";

/** Of three bytes, which only Windows has. */
const notInTriples: readonly Span[] = [
  [0xf321, 0xf334],
  [0xf337, 0xf337],
];

const euc = { label: "euc-jp", trailMin: 0xa1, own: "rows" } as const;

export const sources = {
  sjis: {
    label: "shift_jis",
    backslash: 0x815f,
    leads: [
      [0x81, 0x84],
      [0x88, 0x9f],
      [0xe0, 0xea],
    ],
    trailMin: 0x40,
    katakana: true,
    otherwise: [
      [0x815f, "\\〜‖"],
      [0x817c, "−"],
      [0x8191, "¢£"],
      [0x81ca, "¬"],
    ],
  },
  cp932: {
    label: "shift_jis",
    leads: [
      [0x81, 0x9f],
      [0xe0, 0xfc],
    ],
    trailMin: 0x40,
    katakana: true,
    own: "decoder",
    unwritten: [0xed, 0xee],
  },
  ujis: {
    ...euc,
    leads: [
      [0x8e, 0x8e],
      [0xa1, 0xac],
      [0xae, 0xfe],
    ],
    without: [[0x8ee0, 0x8efe]],
    otherwise: [
      [0xa1c0, "\\〜‖"],
      [0xa1dd, "−"],
      [0xa1f1, "¢£"],
      [0xa2cc, "¬"],
    ],
    triples: { without: notInTriples, otherwise: [[0xa237, "~"]] },
  },
  eucjpms: {
    ...euc,
    leads: [
      [0x8e, 0x8e],
      [0xa1, 0xfe],
    ],
    without: [[0x8ee0, 0x8efe]],
    triples: {
      without: notInTriples,
      otherwise: [
        [0xa243, "￤"],
        [0xf373, "ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅠⅡ"],
        [
          0xf421,
          "ⅢⅣⅤⅥⅦⅧⅨⅩ＇＂㈱№℡炻仼僴凬匇匤\ufa0e咊坙\ufa0f\ufa10增寬峵嵓\ufa11德悅愠敎昻晥\ufa12\uf929栁\ufa13\ufa14橫櫢淸淲瀨\ufa15\ufa16甁皂皞\ufa17礰\ufa18\ufa19\ufa1a\ufa1b竧\ufa1c\ufa1d綠緖\ufa1e荢\ufa1f薰\ufa20\ufa21蠇\ufa22譿賴赶\ufa23\ufa24\ufa25郞\ufa26鄕\ufa27\ufa28閒\uf9dc\ufa29霻靍靑\ufa2a\ufa2b\ufa2c馞髙魲\ufa2d黑",
        ],
      ],
    },
  },
  gbk: { label: "gbk", leads: [[0x81, 0xfe]], trailMin: 0x40 },
  gb2312: {
    label: "gbk",
    leads: [[0xa1, 0xf7]],
    trailMin: 0xa1,
    without: [
      [0xa2a1, 0xa2aa],
      [0xa6e0, 0xa6f5],
      [0xa8bb, 0xa8c0],
    ],
    otherwise: [
      [0xa1a4, "・"],
      [0xa1aa, "―"],
    ],
  },
  gb18030: {
    label: "gb18030",
    leads: [[0x81, 0xfe]],
    trailMin: 0x40,
    own: "decoder",
    quadruples: true,
    otherwise: [
      [0xa3a0, "\ue5e5"],
      [0xa6d9, "\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793"],
      [0xa6ec, "\ue794\ue795"],
      [0xa6f3, "\ue796"],
      [0xa8bc, "ḿ"],
      [0xfe59, "\ue81e"],
      [0xfe61, "\ue826"],
      [0xfe66, "\ue82b\ue82c"],
      [0xfe6d, "\ue832"],
      [0xfe7e, "\ue843"],
      [0xfe90, "\ue854"],
      [0xfea0, "\ue864"],
    ],
  },
  big5: {
    label: "big5",
    leads: [[0xa1, 0xf9]],
    trailMin: 0x40,
    without: [
      [0xa3e1, 0xa3e1],
      [0xf9dd, 0xf9fe],
    ],
    otherwise: [
      [0xa145, "•"],
      [0xa14e, "､"],
      [0xa15a, "\ufffd"],
      [0xa1c2, "‾\ufffd"],
      [0xa1c5, "\ufffd"],
      [0xa1e3, "∼"],
      [0xa1f2, "♁☉"],
      [0xa1fe, "\ufffd"],
      [0xa240, "\ufffd／＼"],
      [0xa244, "¥"],
      [0xa246, "¢£"],
      [0xa2cc, "\ufffd"],
      [0xa2ce, "\ufffd"],
      [
        0xc6a1,
        "ヾゝゞ々ぁあぃいぅうぇえぉおかがきぎくぐけげこごさざしじすずせぜそぞただちぢっつづてでとどなにぬねのはばぱひびぴふぶぷへべぺほぼぽまみむめもゃやゅゆょよらりるれろゎわゐゑをんァアィイゥウェ",
      ],
      [
        0xc740,
        "エォオカガキギクグケゲコゴサザシジスズセゼソゾタダチヂッツヅテデトドナニヌネノハバパヒビピフブプヘベペホボポマミムメモャヤュユ",
      ],
      [
        0xc7a1,
        "ョヨラリルレロヮワヰヱヲンヴヵヶДЕЁЖЗИЙКЛМУФХЦЧШЩЪЫЬЭЮЯабвгдеёжзийклмнопрстуфхцчшщъыьэюя①②③④⑤⑥⑦⑧⑨⑩⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽",
      ],
    ],
  },
  euckr: {
    label: "euc-kr",
    leads: [[0xa1, 0xfd]],
    trailMin: 0xa1,
    syllables: true,
    otherwise: [[0xa2e6, "€®"]],
  },
} as const satisfies Readonly<Record<string, Source>>;

export type MultiByteName = keyof typeof sources;
