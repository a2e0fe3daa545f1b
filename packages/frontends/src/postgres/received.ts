/** What a client sent, as the table of phases takes it. Pure: `connection.ts` asks for every frame. */
import type { Charset } from "@gateway/wire/postgres/charset/charset.ts";
import type { FrameStep } from "@gateway/wire/postgres/frame.ts";
import { parseFrontend } from "@gateway/wire/postgres/frontend.ts";
import type { FrontendMessage, StartMessage, Violation } from "@gateway/wire/postgres/message.ts";
import { parseStart } from "@gateway/wire/postgres/start.ts";
import { beforeStart, type Input, type Phase } from "./machine.ts";
import { textTooLarge } from "./read/textLimit.ts";
import { violationInput } from "./violations.ts";

/** A message in any phase. */
export type Message = StartMessage | FrontendMessage;

/** A frame, or what came in place of one. */
export type Came = Exclude<FrameStep, { kind: "wait" | "long" }>;

/** What happened: a message, a broken one, or (with neither) how an effect of ours ended. */
export interface Received {
  readonly input: Input;
  readonly message: Message | undefined;
  readonly violation: Violation | undefined;
}

/**
 * Reads a frame, or what came in place of one. `limit`: of the text of one that was skipped. `charset`: of its texts;
 * undefined for UTF-8.
 */
export function receivedOf(
  step: Came,
  phase: Phase,
  limit: number | undefined,
  charset?: Charset,
): Received {
  switch (step.kind) {
    case "violation":
      return broken(step.violation, phase);
    case "skipped":
      return broken(textTooLarge(step, limit), phase);
    case "frame": {
      const { frame } = step;
      const parsed = beforeStart(phase) ? parseStart(frame.body) : parseFrontend(frame, charset);
      if (parsed.kind === "violation") return broken(parsed.violation, phase);
      return { input: parsed.message.kind, message: parsed.message, violation: undefined };
    }
  }
}

/** How an effect of ours ended. */
export function ownInput(input: Input): Received {
  return { input, message: undefined, violation: undefined };
}

function broken(violation: Violation, phase: Phase): Received {
  return { input: violationInput(violation, phase), message: undefined, violation };
}

/** True for a message with a type byte, which every message after the start-up packet has. */
export function isTyped(message: Message): message is FrontendMessage {
  switch (message.kind) {
    case "sslRequest":
    case "gssRequest":
    case "cancelRequest":
    case "startup":
      return false;
    default:
      return true;
  }
}
