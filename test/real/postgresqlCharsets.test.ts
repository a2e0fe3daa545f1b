/**
 * Every character of every set that a client of PostgreSQL may have: read here as the server reads it, each one or
 * refused by name, so that no policy sees another text than the server does.
 */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  charsetName,
  charsetNames,
  charsetOf,
  type Charset,
} from "@gateway/wire/postgres/charset/charset.ts";
import { isJis, jisNames } from "@gateway/wire/postgres/charset/jis2004.ts";
import { isSeveralBytes } from "@gateway/wire/postgres/charset/severalBytes.ts";
import { emptyDatabase } from "./postgresDatabase.ts";

let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client({ connectionString: (await emptyDatabase("charsets")).href });
  await client.connect();
  await client.query(
    `create function tried(b bytea, e name) returns text language plpgsql as
     $$ begin return convert_from(b, e); exception when others then return null; end $$;
     create function written(c text, e name) returns bytea language plpgsql as
     $$ begin return convert_to(c, e); exception when others then return null; end $$`,
  );
});
afterAll(async () => await client.end());

/** Bytes, one place after the other, each from one value to another. */
type Places = readonly (readonly [from: number, to: number])[];

const high = [0xa1, 0xfe] as const;
const one: Places = [[1, 255]];
const two: Places = [
  [128, 255],
  [1, 255],
];
/** Characters of more bytes, in the sets that have some. */
const longer: Readonly<Record<string, Places>> = {
  EUC_JP: [[0x8f, 0x8f], high, high],
  EUC_CN: [[0x8f, 0x8f], high, high],
  EUC_KR: [[0x8f, 0x8f], high, high],
  JOHAB: [[0x8f, 0x8f], high, high],
  EUC_TW: [[0x8e, 0x8e], [0xa1, 0xb0], high, high],
  EUC_JIS_2004: [[0x8f, 0x8f], high, high],
  GB18030: [
    [0x81, 0x84],
    [0x30, 0x39],
    [0x81, 0xfe],
    [0x30, 0x39],
  ],
};

/** How many characters of a set are read by the server alone. */
const refused: Readonly<Record<string, number>> = {
  // The server reads U+FFFD.
  BIG5: 7,
  // They changed places between the editions of the standard.
  GB18030: 38,
  // ASCII in two bytes.
  SHIFT_JIS_2004: 2,
};

/** How many the server alone writes and reads again. */
const unwritten: Readonly<Record<string, number>> = { BIG5: 1, GB18030: 38 };

describe.each(charsetNames)("%s", (name) => {
  const charset = charsetFor(name);

  it("is read as the server reads it, character by character", async () => {
    const other: string[] = [];
    let missing = 0;
    const more = longer[name] ?? [];
    for (const places of isSeveralBytes(name) || isJis(name) ? [one, two, more] : [one]) {
      for (const { b, t } of await readBy(places, name)) {
        const text = charset.decode(b);
        if (t === null || text === t) continue;
        // Two characters are read each for itself.
        if (text === undefined && Array.from(t).length === 1) missing += 1;
        if (text !== undefined) other.push(`${b.toString("hex")}: ${t}, not ${text}`);
      }
    }
    expect(other).toEqual([]);
    expect(missing).toBe(refused[name] ?? 0);
    expect(charsetName(name)).toBe(name);
  });

  it("has what the server writes, where it reads that again itself", async () => {
    const { rows } = await client.query<{ c: string; b: Buffer }>(
      `select c, b from (select c, written(c, $1) b from (
         select chr(n) c from generate_series(128, 65535) n where n not between 55296 and 57343
       ) characters) w where tried(b, $1) = c`,
      [name],
    );
    const other = rows.filter(({ c, b }) => {
      const encoded = charset.encode(c);
      return encoded !== undefined && charset.decode(b) !== c;
    });
    expect(other).toEqual([]);
    const missing = rows.filter(({ c }) => charset.encode(c) === undefined);
    expect(missing.length).toBe(unwritten[name] ?? 0);
  });
});

it("GB18030 has all of Unicode beyond the first plane, as the server has it", async () => {
  const charset = charsetFor("GB18030");
  for (let plane = 1; plane <= 16; plane += 1) {
    const all = Array.from({ length: 0x1_0000 }, (_, at) =>
      String.fromCodePoint(plane * 0x1_0000 + at),
    ).join("");
    const bytes = Buffer.from(charset.encode(all) ?? []);
    const { rows } = await client.query<{ t: string }>("select convert_from($1, 'GB18030') t", [
      bytes,
    ]);
    expect(rows[0]?.t === all).toBe(true);
    expect(charset.decode(bytes) === all).toBe(true);
  }
});

it.each(jisNames)(
  "%s writes what it reads as the server does, of two code points too",
  async (name) => {
    const charset = charsetFor(name);
    const texts = new Set<string>();
    for (const places of [two, longer[name] ?? []])
      for (const { t } of await readBy(places, name))
        if (t !== null && charset.encode(t) !== undefined) texts.add(t);
    const { rows } = await client.query<{ t: string; b: Buffer }>(
      "select t, written(t, $2) b from unnest($1::text[]) t",
      [[...texts], name],
    );
    expect(rows.filter(({ t }) => Array.from(t).length === 2).length).toBeGreaterThanOrEqual(25);
    expect(rows.filter(({ t }) => (t.codePointAt(0) ?? 0) > 0xffff).length).toBeGreaterThanOrEqual(
      303,
    );
    expect(rows.filter(({ t, b }) => Buffer.compare(b, charset.encode(t) ?? b) !== 0)).toEqual([]);
  },
);

async function readBy(
  places: Places,
  name: string,
): Promise<readonly { readonly b: Buffer; readonly t: string | null }[]> {
  const bytes = places.map((_, at) => `decode(lpad(to_hex(b${at}), 2, '0'), 'hex')`).join(" || ");
  if (places.length === 0) return [];
  const from = places.map(([low, up], at) => `generate_series(${low}, ${up}) b${at}`).join(", ");
  const { rows } = await client.query<{ b: Buffer; t: string | null }>(
    `select b, tried(b, $1) t from (select ${bytes} b from ${from}) bytes`,
    [name],
  );
  return rows;
}

function charsetFor(name: string): Charset {
  const charset = charsetOf(name);
  if (charset === undefined) throw new Error(`no character set ${name}`);
  return charset;
}
