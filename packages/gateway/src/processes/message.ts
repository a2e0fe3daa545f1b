/** What the first process and the others say to each other, as JSON over the channel that Node keeps between them. */

export type ToChild =
  | {
      readonly kind: "question";
      readonly id: number;
      readonly topic: string;
      readonly question: unknown;
    }
  | { readonly kind: "answers"; readonly id: number; readonly answers: readonly unknown[] }
  /** A signal came; the second one hurries. */
  | { readonly kind: "stop"; readonly signal: string };

export type ToParent =
  | {
      readonly kind: "ask";
      readonly id: number;
      readonly topic: string;
      readonly question: unknown;
      readonly to?: number;
    }
  /** Without an answer: there is none for that topic. */
  | { readonly kind: "answer"; readonly id: number; readonly answer?: unknown }
  /** All listeners are open. */
  | { readonly kind: "started" };

/** Node's own messages of its cluster come over the same channel; they have another member. */
export function isOurs(message: unknown): message is { readonly kind: string } {
  return typeof message === "object" && message !== null && "kind" in message;
}
