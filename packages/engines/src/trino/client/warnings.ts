/** The `warnings` of a page as notices. */
import type { ResultEvent } from "@gateway/core/query/event.ts";
import { valueOfSpan, type Span } from "@gateway/wire/trino/clientPage.ts";

type Notice = Extract<ResultEvent, { kind: "notice" }>;

/** `[]`. */
const emptySize = 2;
const textLengthMax = 2_000;

/** All warnings so far, in Trino's order; what is none is left out. */
export function noticesOf(bytes: Uint8Array, span: Span): readonly Notice[] {
  if (span.end - span.start <= emptySize) return [];
  const warnings = valueOfSpan(bytes, span);
  if (!Array.isArray(warnings)) return [];
  return (warnings as readonly unknown[]).flatMap((warning) => {
    const notice = noticeOf(warning);
    return notice === undefined ? [] : [notice];
  });
}

function noticeOf(warning: unknown): Notice | undefined {
  if (typeof warning !== "object" || warning === null || !("message" in warning)) return undefined;
  const { message } = warning;
  const code = "warningCode" in warning ? warning.warningCode : undefined;
  const name = typeof code === "object" && code !== null && "name" in code ? code.name : undefined;
  if (typeof message !== "string" || typeof name !== "string") return undefined;
  return { kind: "notice", code: name, text: message.slice(0, textLengthMax) };
}
