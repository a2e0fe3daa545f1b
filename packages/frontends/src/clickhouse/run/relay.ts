/** What a ClickHouse server is told of a request beside its text. */
import { Readable } from "node:stream";
import type { Relay, RelayBody } from "@gateway/core/query/query.ts";
import type { HttpRequest } from "../../listener/http/exchange.ts";
import { PlainRequest } from "../../listener/http/plain/request.ts";
import type { Fields } from "../read/fields.ts";
import type { Text } from "./text.ts";

interface Asked {
  readonly request: HttpRequest;
  readonly fields: Fields;
}

type Settings = ReadonlyMap<string, string>;

/** The last one that says nothing but the form of an answer. Those that come again are known by their identity. */
let lastRelay: Relay | undefined;
let lastFormat: string | undefined;

export function relayOf(asked: Asked, text: Text, format: string, settings: Settings): Relay {
  const { fields, request } = asked;
  const { compress, waitsForEnd, parameters } = fields;
  const acceptEncoding = request.headers["accept-encoding"];
  const saysMore = compress || waitsForEnd || text.body !== undefined;
  if (saysMore || parameters.length > 0 || settings.size > 0) {
    return wholeRelayOf(asked, text, format, settings);
  }
  const isKnown = lastFormat === format && lastRelay?.acceptEncoding === acceptEncoding;
  if (lastRelay !== undefined && isKnown) return lastRelay;
  lastRelay = wholeRelayOf(asked, text, format, settings);
  lastFormat = format;
  return lastRelay;
}

function wholeRelayOf(asked: Asked, text: Text, format: string, settings: Settings): Relay {
  const { fields, request } = asked;
  const form: [string, string][] = [["default_format", format]];
  const of = settings.size === 0 ? settings : formOf(settings, form);
  if (fields.compress) form.push(["compress", "1"]);
  if (fields.waitsForEnd) form.push(["wait_end_of_query", "1"]);
  return {
    fields: [...of, ...fields.parameters.map(([name, value]) => [`param_${name}`, value] as const)],
    form,
    acceptEncoding: request.headers["accept-encoding"],
    body: text.body === undefined ? undefined : bodyOf(asked),
  };
}

/** What is left of them without those about the form of an answer, which the gateway may write itself: these go to `form`. */
function formOf(
  settings: ReadonlyMap<string, string>,
  form: [string, string][],
): ReadonlyMap<string, string> {
  const of = new Map(settings);
  // Whoever leaves ends the query, whatever the client says, and the gateway says so to the server itself.
  of.delete("cancel_http_readonly_queries_on_client_close");
  for (const name of formSettings) {
    const value = of.get(name);
    of.delete(name);
    if (value !== undefined) form.push([name, value]);
  }
  return of;
}

const formSettings = ["client_protocol_version", "enable_http_compression"] as const;

/** The rows of an `INSERT` as they come. Whoever stops reading leaves the connection as it is. */
function bodyOf({ request, fields }: Asked): RelayBody {
  return {
    bytes:
      request instanceof PlainRequest
        ? Readable.from([request.body])
        : { [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) },
    encoding: request.headers["content-encoding"],
    blocks: fields.decompress,
  };
}
