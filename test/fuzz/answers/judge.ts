/**
 * Whether an answer is one of its protocol, beyond HTTP and JSON: which documents there are, what each has, and what goes
 * together in it. The request may be any by chance, so its document is told by its own members. Sources: Snowflake's drivers
 * and its SQL API reference, JSON-RPC 2.0 §5, Trino's client protocol.
 */
import { gunzipSync } from "node:zlib";
import type { HttpAnswer } from "../requests.ts";
import { mcpSchema, toldSchema, wrongId } from "./mcp.ts";
import { snowflakeSchema } from "./snowflake.ts";
import { trinoSchema } from "./trino.ts";

export type Judged = "snowflake" | "mcp" | "trino";

/** Undefined for an answer that is one. `sent` is what the connection was sent. */
export function wrongIn(wire: Judged, answer: HttpAnswer, sent: Buffer): string | undefined {
  const { status, headers } = answer;
  const type = headers.get("content-type") ?? "";
  const body = readableBody(answer);
  if (body === undefined || body.length === 0) return undefined;
  if (/^application\/json\b/.test(type)) return wrongText(wire, body.toString(), { status, sent });
  if (wire === "mcp" && type === "text/event-stream")
    return wrongEvents(body.toString(), { status, sent });
  // Words for people go with refusals alone; rows of a result are bytes.
  if (status >= 400 || (wire === "snowflake" && type === "application/octet-stream"))
    return undefined;
  return `${status} with ${type || "bytes of no type"}`;
}

/** Undefined where it is packed in a way that Node does not read. */
function readableBody({ headers, body }: HttpAnswer): Buffer | undefined {
  const encoding = headers.get("content-encoding");
  if (encoding === undefined) return body;
  return encoding === "gzip" && body.length > 0 ? gunzipSync(body) : undefined;
}

interface About {
  readonly status: number;
  readonly sent: Buffer;
}

function wrongText(wire: Judged, text: string, about: About): string | undefined {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return "JSON that is none";
  }
  const schema = schemas[wire](document, about.status);
  const read = schema.safeParse(document);
  if (!read.success) {
    const [first] = read.error.issues;
    return `${first?.path.join(".") ?? ""}: ${first?.message ?? ""}`;
  }
  return wire === "mcp" ? wrongId(document, about.sent) : undefined;
}

const schemas = { snowflake: snowflakeSchema, mcp: mcpSchema, trino: trinoSchema };

/** Events of one answer: what is told on the way, and at the end one message that answers. */
function wrongEvents(stream: string, about: About): string | undefined {
  const messages = stream.split(/\r?\n\r?\n/).flatMap((event) => {
    const lines = event.split(/\r?\n/).filter((line) => line.startsWith("data:"));
    return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).trimStart()).join("\n")];
  });
  const last = messages.pop();
  if (last === undefined) return "events without an answer";
  for (const message of messages) {
    let document: unknown;
    try {
      document = JSON.parse(message);
    } catch {
      return "an event that is no JSON";
    }
    if (!toldSchema.safeParse(document).success) return "a message on the way that is none";
  }
  return wrongText("mcp", last, about);
}
