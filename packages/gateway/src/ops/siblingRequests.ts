/** Requests of the admin listener to a process that is one of several: the first one has the listener and asks them all. */
import type { SiblingTopic, Siblings } from "@gateway/core/port/siblings.ts";
import type { OpsAnswers } from "./listen.ts";
import { plainAnswer, plainPath, type PlainAnswer } from "./plain.ts";

/** A request for what one process alone knows. */
export interface OpsQuestion {
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly address: string;
}

export interface OpsAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  /** Base64. */
  readonly body: string;
}

type Sides = Pick<OpsAnswers, "plain" | "app" | "callers">;

export const opsTopic: SiblingTopic<OpsQuestion, OpsAnswer> = { name: "ops" };

export const ownHost = "127.0.0.1";

/** Answers the first one, which has the listener. */
export function answerFront(siblings: Siblings, { plain, app, callers }: Sides): void {
  siblings.answer(opsTopic, async ({ path, headers, address }) => {
    const known = plainPath(path);
    if (known !== undefined) return plainly(await plainAnswer(known, plain));
    const given = new Headers(headers.map(([name, value]): [string, string] => [name, value]));
    // The name that the client called was judged where it arrived.
    given.set("host", ownHost);
    given.delete("origin");
    const request = new Request(new URL(path, `http://${ownHost}`), { headers: given });
    callers.told(request, { address, secure: false });
    const response = await (await app()).fetch(request);
    const body = Buffer.from(await response.arrayBuffer()).toString("base64");
    return { status: response.status, headers: [...response.headers], body };
  });
}

function plainly({ status, type, body }: PlainAnswer): OpsAnswer {
  return {
    status,
    headers: [["content-type", type]],
    body: Buffer.from(body).toString("base64"),
  };
}
