/**
 * Collations that clients name in the handshake, by id: those of one byte, of the character sets that are read here.
 * Source: `information_schema.collations` of MySQL 9. MariaDB has the same but for two names.
 */

/** What utf8mb3 has from 192 on, and utf8mb4 from 224 on. */
const languages =
  "unicode icelandic latvian romanian slovenian polish estonian spanish swedish turkish czech danish lithuanian slovak spanish2 roman persian esperanto hungarian sinhala german2 croatian unicode_520 vietnamese".split(
    " ",
  );

function languagesOf(set: string, first: number): readonly (readonly [number, string])[] {
  return languages.map((language, at) => [first + at, `${set}_${language}_ci`]);
}

const named: ReadonlyMap<number, string> = new Map([
  [5, "latin1_german1_ci"],
  [8, "latin1_swedish_ci"],
  [11, "ascii_general_ci"],
  [15, "latin1_danish_ci"],
  [31, "latin1_german2_ci"],
  [33, "utf8mb3_general_ci"],
  [45, "utf8mb4_general_ci"],
  [46, "utf8mb4_bin"],
  [47, "latin1_bin"],
  [48, "latin1_general_ci"],
  [49, "latin1_general_cs"],
  [63, "binary"],
  [65, "ascii_bin"],
  [76, "utf8mb3_tolower_ci"],
  [83, "utf8mb3_bin"],
  [94, "latin1_spanish_ci"],
  ...languagesOf("utf8mb3", 192),
  [223, "utf8mb3_general_mysql500_ci"],
  ...languagesOf("utf8mb4", 224),
  [255, "utf8mb4_0900_ai_ci"],
]);

/** Every id and name. */
export const collations: Iterable<readonly [number, string]> = named;

/** The name of a collation; undefined for an id of another character set. */
export function collationNamed(id: number): string | undefined {
  return named.get(id);
}
