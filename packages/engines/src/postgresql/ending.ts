/**
 * Ends a statement in its server. A cancel request says which connection is meant and not which statement: one that comes
 * before the statement began is lost without a word, and whoever asked waits for as long as it runs. So it is
 * asked again, until the server answered.
 */
import type { Clock } from "@gateway/core/port/clock.ts";
import type { Member } from "./client/member.ts";

/** Until it is asked again, at first; each time twice as long. */
const againMs = 250;
const againMsMax = 5_000;

interface EndingContext {
  readonly cancel: (member: Member) => Promise<boolean>;
  readonly clock: Pick<Clock, "timer">;
}

export class Ending {
  readonly #member: Member;
  readonly #context: EndingContext;
  /** The request that is under way, or was. */
  #asked: Promise<void> | undefined;
  #again: Disposable | undefined;
  #waitMs = againMs;
  #over = false;

  constructor(member: Member, context: EndingContext) {
    this.#member = member;
    this.#context = context;
  }

  /** Whether the server was asked. */
  get begun(): boolean {
    return this.#asked !== undefined;
  }

  /** Asks, if nobody did. */
  begin(): void {
    if (this.#asked !== undefined || this.#over) return;
    this.#member.tainted = true;
    this.#asked = this.#ask();
  }

  /** The server answered, or never will. Resolves once no request is under way, which could meet the next statement. */
  async over(): Promise<void> {
    this.#over = true;
    this.#again?.[Symbol.dispose]();
    await this.#asked;
  }

  async #ask(): Promise<void> {
    const member = this.#member;
    const { cancel, clock } = this.#context;
    if (!(await cancel(member))) return member.destroy();
    if (this.#over || !member.open) return;
    this.#again = clock.timer(this.#waitMs, () => {
      this.#asked = this.#ask();
    });
    this.#waitMs = Math.min(againMsMax, this.#waitMs * 2);
  }
}
