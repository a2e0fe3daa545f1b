/** KS X 1001 as PostgreSQL has it in EUC_KR; UHC and JOHAB have its characters too. */
import type { Source } from "../../charset/source.ts";
import { sources } from "../../charset/sources.ts";

export const standardKorean = {
  ...sources.euckr,
  syllables: false,
  otherwise: [[0xa2e6, "€®㉾"]],
} as const satisfies Source;
