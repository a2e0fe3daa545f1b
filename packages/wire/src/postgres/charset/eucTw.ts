/**
 * EUC_TW, as PostgreSQL reads it: the first two planes of CNS 11643. They have the characters of Big5 in nearly its
 * order, so that their table is made of that one's. A server writes characters of further planes too and reads none.
 */
import { sources } from "../../charset/sources.ts";
import { tableOf, type Pairs, type Table } from "../../charset/table.ts";

export function eucTwTable(): Table {
  const big5 = tableOf(sources.big5);
  const pairs = new Uint16Array(0x1_0000);
  put(pairs, big5.pairs, firstPlane, 0x80);
  put(pairs, big5.pairs, secondPlane, 0);
  for (const [code, characters] of notInBig5)
    for (let at = 0; at < characters.length; at += 1) pairs[code + at] = characters.charCodeAt(at);
  const prefixes = [
    { bytes: [0x8e, 0xa2], high: 0 },
    { bytes: [0x8e, 0xa1], high: 0x80 },
  ] as const;
  return { ...big5, pairs, trailMin: 0xa1, prefixes };
}

function put(pairs: Pairs, big5: Pairs, spans: string, high: 0x80 | 0): void {
  for (const [, code = "", from = "", count = ""] of spans.matchAll(/(\w+)=(\w+)\*(\d+)/g)) {
    let [here, there] = [Number.parseInt(code, 16), Number.parseInt(from, 16)];
    for (let at = 0; at < Number(count); at += 1) {
      pairs[high === 0 ? here & 0xff7f : here] = big5[there] ?? 0;
      here = (here & 0xff) === 0xfe ? here + 0xa3 : here + 1;
      there = nextOfBig5(there);
    }
  }
}

/** Second bytes end at 0x7E and go on from 0xA1 to 0xFE. */
function nextOfBig5(code: number): number {
  const trail = code & 0xff;
  if (trail === 0x7e) return code + 0x23;
  return trail === 0xfe ? code + 0x42 : code + 1;
}

const notInBig5 = [
  [0xa1a6, "・"],
  [0xa1af, "﹑"],
  [0xa1b8, "︲"],
  [0xa2dd, "‖"],
  [0xa2e1, "∕﹨"],
  [0xa2e4, "￥"],
  [0xa2e6, "￠￡"],
  [0xa6b5, "ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹ"],
  [0xc2a1, "␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟␡"],
  [0xf6c1, "彞"],
] as const;

/** Consecutive characters: where they begin here, where in Big5, and how many. */
const firstPlane = `
  a1a1=a140*5 a1a7=a146*8 a1b0=a14f*6 a1b6=a157*2 a1b9=a156*1 a1be=a15d*44 a1ea=a1ac*1 a1eb=a1ab*1
  a1ec=a1ad*22 a2a5=a1c4*1 a2a7=a1c6*27 a2c2=a1e2*1 a2c3=a1e1*1 a2c4=a1e3*19 a2d7=a1f7*1
  a2d8=a1f6*1 a2d9=a1f8*4 a2de=a155*1 a2df=a241*2 a2e3=a243*1 a2e5=a245*1 a2e8=a248*69
  a4a1=a2af*29 a4bf=a2cd*1 a4c1=a2cf*142 a6a1=c7e9*20 c4a1=a440*1412 d3a3=ad40*424 d7d3=acfe*1
  d7d4=afd0*1876 ebd0=be52*1 ebd1=bbc8*387 efdc=be53*525 f5b5=c2cb*1 f5b6=c1ab*105 f6c2=c256*83
  f7b7=c2cc*84 f8ad=c456*1 f8ae=c361*54 f8e4=c3ba*1 f8e5=c3b9*1 f8e6=c3bb*90 f9e2=c457*354`;

const secondPlane = `
  a1a1=c940*10 a1ab=c94b*33 a1cc=c9be*1 a1cd=c96c*48 a1fd=c9bf*46 a2cd=caf7*1 a2ce=c9ed*167
  a4b9=caf8*1840 b7ef=dadf*1 b7f0=d6cd*108 b8fe=d77b*537 bee3=d6cc*1 bee4=dae0*100 bfea=d77a*1
  bfeb=dba7*399 c4a4=ddfd*1637 d5cb=ebf1*1 d5cc=e8a3*146 d7a2=ecde*1 d7a3=e976*287 daa8=f0cb*1
  daa9=eb5b*116 dbbf=ebf2*137 dcea=ecdf*104 ddf4=f056*1 ddf5=edaa*222 e0b9=eeec*198 e2c3=f057*82
  e3b7=f0cc*86 e4af=eeeb*1 e4b0=f163*8 e4b8=f16c*153 e5f3=f269*56 e6cd=f4b5*1 e6ce=f2c3*113
  e7e1=f16b*1 e7e2=f375*142 e9b4=f268*1 e9b5=f466*45 e9e2=f4b6*71 eacb=f663*1 eacc=f4fd*194
  ecd2=f664*490 f1e6=f9c4*1 f1e7=f977*43 f2b4=f9c5*1 f2b5=f9c7*11 f2c0=f9c6*1 f2c1=f9d2*4`;
