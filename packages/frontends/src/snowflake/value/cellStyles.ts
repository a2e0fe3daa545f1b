/** How cells look as text: plain ones, and nested ones, which are JSON. */
import { jsonText, postgresText } from "@gateway/core/type/text.ts";
import type { TextStyle } from "@gateway/core/type/cellWriter.ts";

/** Nested values are JSON in a text. */
export const nestedStyle: TextStyle = { ...jsonText, separator: " ", zoneSuffix: "isoOffset" };
export const plainStyle: TextStyle = {
  ...postgresText,
  years: "iso",
  exponents: "ecmascript",
  intervals: "iso",
};
