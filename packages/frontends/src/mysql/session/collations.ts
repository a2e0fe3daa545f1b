/**
 * Collations that clients name in the handshake, by id: those of the character sets that are read here, up to 255.
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
  [1, "big5_chinese_ci"],
  [2, "latin2_czech_cs"],
  [5, "latin1_german1_ci"],
  [7, "koi8r_general_ci"],
  [8, "latin1_swedish_ci"],
  [9, "latin2_general_ci"],
  [11, "ascii_general_ci"],
  [12, "ujis_japanese_ci"],
  [13, "sjis_japanese_ci"],
  [14, "cp1251_bulgarian_ci"],
  [15, "latin1_danish_ci"],
  [19, "euckr_korean_ci"],
  [20, "latin7_estonian_cs"],
  [21, "latin2_hungarian_ci"],
  [22, "koi8u_general_ci"],
  [23, "cp1251_ukrainian_ci"],
  [24, "gb2312_chinese_ci"],
  [26, "cp1250_general_ci"],
  [27, "latin2_croatian_ci"],
  [28, "gbk_chinese_ci"],
  [29, "cp1257_lithuanian_ci"],
  [31, "latin1_german2_ci"],
  [33, "utf8mb3_general_ci"],
  [34, "cp1250_czech_cs"],
  [36, "cp866_general_ci"],
  [39, "macroman_general_ci"],
  [41, "latin7_general_ci"],
  [42, "latin7_general_cs"],
  [44, "cp1250_croatian_ci"],
  [45, "utf8mb4_general_ci"],
  [46, "utf8mb4_bin"],
  [47, "latin1_bin"],
  [48, "latin1_general_ci"],
  [49, "latin1_general_cs"],
  [50, "cp1251_bin"],
  [51, "cp1251_general_ci"],
  [52, "cp1251_general_cs"],
  [53, "macroman_bin"],
  [57, "cp1256_general_ci"],
  [58, "cp1257_bin"],
  [59, "cp1257_general_ci"],
  [63, "binary"],
  [65, "ascii_bin"],
  [66, "cp1250_bin"],
  [67, "cp1256_bin"],
  [68, "cp866_bin"],
  [74, "koi8r_bin"],
  [75, "koi8u_bin"],
  [76, "utf8mb3_tolower_ci"],
  [77, "latin2_bin"],
  [79, "latin7_bin"],
  [83, "utf8mb3_bin"],
  [84, "big5_bin"],
  [85, "euckr_bin"],
  [86, "gb2312_bin"],
  [87, "gbk_bin"],
  [88, "sjis_bin"],
  [91, "ujis_bin"],
  [94, "latin1_spanish_ci"],
  [95, "cp932_japanese_ci"],
  [96, "cp932_bin"],
  [97, "eucjpms_japanese_ci"],
  [98, "eucjpms_bin"],
  [99, "cp1250_polish_ci"],
  ...languagesOf("utf8mb3", 192),
  [223, "utf8mb3_general_mysql500_ci"],
  ...languagesOf("utf8mb4", 224),
  [248, "gb18030_chinese_ci"],
  [249, "gb18030_bin"],
  [250, "gb18030_unicode_520_ci"],
  [255, "utf8mb4_0900_ai_ci"],
]);

/** Every id and name. */
export const collations: Iterable<readonly [number, string]> = named;

/** The name of a collation; undefined for an id of another character set. */
export function collationNamed(id: number): string | undefined {
  return named.get(id);
}
