/**
 * The options of a session travel in a cookie, sealed and bound to their user: Flight has no connection that a
 * session could belong to, and nothing is remembered here.
 */
import type { Sealer } from "@gateway/core/handle/seal.ts";
import { tagPrefix } from "@gateway/core/query/tag.ts";
import type { SessionOptionValue } from "../proto/Flight_pb.js";
import { optionBytesMax } from "../limits.ts";

/** What a client set. */
export interface SessionOptions {
  readonly catalog?: string;
  readonly schema?: string;
  /** As clients of other protocols write them: `team:etl`. */
  readonly tags?: readonly string[];
}

export const noOptions: SessionOptions = {};

/** Clients keep cookies by their names; this one is what others use. */
export const cookieName = "arrow_flight_session_id";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The value of the cookie; undefined when the options are too long for one. */
export function cookieOf(
  options: SessionOptions,
  user: string,
  sealer: Sealer,
): string | undefined {
  const plain = encoder.encode(JSON.stringify(options));
  return plain.length > optionBytesMax ? undefined : sealer.seal(plain, boundTo(user));
}

/** The options in the cookies of a call. A cookie that is forged, foreign or another listener's is none. */
export function optionsIn(
  cookies: readonly string[],
  user: string,
  sealer: Sealer,
): SessionOptions | undefined {
  for (const pair of cookies.flatMap((line) => line.split(";"))) {
    const [name, value = ""] = pair.trim().split("=", 2);
    if (name !== cookieName) continue;
    const plain = sealer.open(value.replace(/^"|"$/g, ""), boundTo(user));
    if (plain !== undefined) return JSON.parse(decoder.decode(plain)) as SessionOptions;
  }
  return undefined;
}

function boundTo(user: string): string {
  return `session ${user}`;
}

/** Why an option was not taken. */
export type OptionFault = "name" | "value";

/** The options with one of them changed. An empty value takes it away. */
export function withOption(
  options: SessionOptions,
  name: string,
  { optionValue }: SessionOptionValue,
): SessionOptions | OptionFault {
  switch (name) {
    case "catalog":
    case "schema": {
      const { [name]: _before, ...rest } = options;
      if (optionValue.case === undefined) return rest;
      if (optionValue.case !== "stringValue") return "value";
      return optionValue.value === "" ? rest : { ...rest, [name]: optionValue.value };
    }
    case "tags": {
      const { tags: _before, ...rest } = options;
      if (optionValue.case === undefined) return rest;
      if (optionValue.case !== "stringListValue") return "value";
      const tags = optionValue.value.values;
      // By such a tag the gateway knows its own statements again, so nobody else may set one.
      if (tags.some((tag) => tag === "" || tag.startsWith(tagPrefix))) return "value";
      return tags.length === 0 ? rest : { ...rest, tags };
    }
    default:
      return "name";
  }
}

/** `team:etl` is a tag with a value; a tag without a colon has an empty one. */
export function tagsOf({ tags = [] }: SessionOptions): ReadonlyMap<string, string> {
  return new Map(
    tags.map((tag) => {
      const colon = tag.indexOf(":");
      return colon < 0 ? [tag, ""] : [tag.slice(0, colon).trim(), tag.slice(colon + 1).trim()];
    }),
  );
}
