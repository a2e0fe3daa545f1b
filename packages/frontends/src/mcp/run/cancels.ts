/**
 * Where a cancel goes: to the call that it names, whichever gateway of the fleet answers that.
 *
 * A session's messages reach any gateway, so a cancel and its call may be at two of them, which know nothing of each
 * other. They meet at the session's home, the gateway that began it: a call that is still being answered after a moment
 * is told there with the mark of its gateway, and a cancel that finds nothing of its own goes there, and from there on.
 * Where the home is gone a cancel ends calls of its own gateway only; a handle and `cancel_query` need no home.
 */
import { createHash } from "node:crypto";
import type { Host } from "@gateway/core/port/host.ts";
import { Aged } from "@gateway/core/tool/aged.ts";
import { neverAborted } from "@gateway/core/tool/canceller.ts";
import type { Carrier, RelayedClient, AskedElsewhere } from "../../listener/elsewhere.ts";
import { Calls, type CallKey } from "./calls.ts";

/** Most calls are over before; the others are worth a request to the home. */
const tellAfterMs = 100;
/** A cancel may come before its call was told; a call is told in a few hundred milliseconds. */
const earlyMs = 10_000;
/** Calls of other gateways that a home knows, and cancels that came before their call. The oldest go first. */
const toldMax = 10_000;
const earlyMax = 1_000;
/** Messages to other gateways at once; what is beyond is not sent. */
const underwayMax = 256;

const called = "/called/";
const cancelled = "/cancelled/";
/** A digest as it stands in a path. */
const digestForm = /^[\w-]{43}$/;
const nobody: RelayedClient = {
  address: "",
  mayTakeCredentials: false,
  certificateNames: [],
  baseUrl: "",
};

type CancelsHost = Pick<Host, "clock">;

/** A session's call as its message tells it, and the home of the session where it has one. */
export interface HomedCall extends CallKey {
  readonly home: string | undefined;
}

export class Cancels {
  readonly #calls = new Calls();
  readonly #host: CancelsHost;
  readonly #carrier: Carrier | undefined;
  /** How the fleet reaches this gateway. */
  readonly #mark: string;
  /** As a home: the marks of the gateways that answer calls, and the times of cancels without one. By digests. */
  readonly #told = new Aged<string, string>();
  readonly #early = new Aged<string, number>();
  #underway = 0;

  constructor(host: CancelsHost, mark: string, carrier: Carrier | undefined) {
    this.#host = host;
    this.#mark = mark;
    this.#carrier = carrier;
  }

  /** A call is being answered here, until disposed; `stop` is called when a cancel for it comes, wherever. */
  begin({ home, ...key }: HomedCall, stop: () => void): Disposable {
    const digest = digestOf(key);
    const call = this.#calls.add(digest, stop);
    if (home === undefined || home === this.#mark || this.#carrier === undefined) {
      if (this.#wasCancelled(digest)) stop();
      return call;
    }
    const telling = this.#host.clock.timer(tellAfterMs, () => {
      void this.#tellHome(home, digest, stop);
    });
    return {
      [Symbol.dispose]: () => {
        telling[Symbol.dispose]();
        call[Symbol.dispose]();
      },
    };
  }

  /** The client of a session cancelled one of its calls. */
  cancel({ home, ...key }: HomedCall): void {
    const digest = digestOf(key);
    if (this.#calls.cancel(digest)) return;
    if (home === undefined || home === this.#mark) this.#cancelAsHome(digest);
    else void this.#send(home, cancelled + digest, "");
  }

  /** A message of another gateway. False for a request of a client, which other gateways send on as it is. */
  relayed({ request, response }: AskedElsewhere): boolean {
    const { url = "" } = request;
    const path = [called, cancelled].find((start) => url.startsWith(start));
    if (path === undefined) return false;
    const digest = url.slice(path.length);
    if (!digestForm.test(digest)) {
      response.statusCode = 404;
      response.end();
      return true;
    }
    let answer = "";
    if (path === cancelled) {
      if (!this.#calls.cancel(digest)) this.#cancelAsHome(digest);
    } else if (this.#wasCancelled(digest)) answer = "cancelled";
    else this.#tell(digest, String(request.headers[markHeader] ?? ""));
    response.setHeader("Content-Type", "text/plain");
    response.end(answer);
    return true;
  }

  async #tellHome(home: string, digest: string, stop: () => void): Promise<void> {
    if ((await this.#send(home, called + digest, this.#mark)) === "cancelled") stop();
  }

  /** Where the call is told to be; otherwise it may be told in a moment. */
  #cancelAsHome(digest: string): void {
    const mark = this.#told.get(digest);
    this.#told.delete(digest);
    if (mark !== undefined) {
      void this.#send(mark, cancelled + digest, "");
      return;
    }
    this.#early.put(digest, this.#host.clock.nowMs());
    while (this.#early.size > earlyMax) this.#early.delete(this.#early.oldest?.[0] ?? "");
  }

  #wasCancelled(digest: string): boolean {
    const atMs = this.#early.get(digest);
    this.#early.delete(digest);
    return atMs !== undefined && this.#host.clock.nowMs() - atMs < earlyMs;
  }

  #tell(digest: string, mark: string): void {
    this.#told.put(digest, mark);
    while (this.#told.size > toldMax) this.#told.delete(this.#told.oldest?.[0] ?? "");
  }

  async #send(mark: string, path: string, own: string): Promise<string> {
    if (this.#carrier === undefined || this.#underway >= underwayMax) return "";
    this.#underway += 1;
    try {
      const answer = await this.#carrier.carry(mark, "mcp", {
        path,
        headers: own === "" ? [] : [markHeader, own],
        body: new Uint8Array(0),
        client: nobody,
        signal: neverAborted,
      });
      let text = "";
      for await (const chunk of answer ?? []) text += String(chunk);
      return text;
    } catch {
      // The other gateway went away amid its answer: nobody can be told more.
      return "";
    } finally {
      this.#underway -= 1;
    }
  }
}

const markHeader = "mcp-call-mark";

/** What tells calls apart, of a fixed length, and without a user's name. */
function digestOf({ user, session, id }: CallKey): string {
  const text = JSON.stringify([user, session, id]);
  return createHash("sha256").update(text).digest("base64url");
}
