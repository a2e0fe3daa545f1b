/** A web service that a guard of the configuration asks about statements. */
import type { GuardAnswer, GuardQuestion } from "@gateway/contract/guardService.ts";
import type { Result } from "../../result.ts";

export interface GuardService extends Partial<AsyncDisposable> {
  /**
   * Asks; never rejects. Without an answer that can be used it says why, for the log and in none of the service's own
   * words. An abort of `signal` ends the request, and what is answered then is of no use.
   */
  ask(
    question: GuardQuestion,
    user: string,
    signal: AbortSignal,
  ): Promise<Result<GuardAnswer, string>>;
}
