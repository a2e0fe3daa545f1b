/**
 * Reads the small JSON bodies of calls that come thousands of times a second: whole, where their length
 * was declared, which the server reads without a stream. Everything else goes the careful way of
 * http/body.ts, with the same answers.
 */
import { err, ok, type Result } from "@gateway/core/result.ts";
import { readJson } from "../http/body.ts";
import type { Problem } from "../problem.ts";
import { isStorable } from "../store/storable.ts";

/** The parsed body, or the problem to answer with. */
export async function readSmallJson(
  request: Request,
  bytesMax: number,
): Promise<Result<unknown, Problem>> {
  const { headers } = request;
  const declared = headers.get("content-length");
  const plain =
    declared !== null &&
    /^\d{1,9}$/.test(declared) &&
    Number(declared) <= bytesMax &&
    headers.get("content-type") === "application/json" &&
    !headers.has("content-encoding");
  if (!plain) return readJson(request, { bytesMax });
  try {
    const text = await request.text();
    // A length may lie where no HTTP server counted it; U+FFFD stands for what is no UTF-8.
    const odd = text.length > bytesMax || text.includes("\uFFFD") || text.includes("\\u");
    if (odd && !isKept(text, bytesMax)) return err(malformed);
    return ok(JSON.parse(text));
  } catch {
    // The parser's message quotes the body; a caller that hung up hears nothing anyway.
    return err(malformed);
  }
}

/** Escapes may stand for text that no store can hold. */
function isKept(text: string, bytesMax: number): boolean {
  if (text.length > bytesMax || text.includes("\uFFFD")) return false;
  return isStorable(
    JSON.stringify(JSON.parse(text)).replaceAll(/\\u0000|\\ud[89a-f]../g, "\u0000"),
  );
}

const malformed: Problem = {
  status: 400,
  code: "malformedBody",
  title: "The body can not be read",
  detail: "The body is not JSON in UTF-8.",
};
