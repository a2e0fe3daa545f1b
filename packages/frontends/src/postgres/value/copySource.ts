/** The data of a `COPY … FROM STDIN` as its client sends it, for a server that is asked to take it. */
import type { CopyPiece, CopySource } from "@gateway/core/query/query.ts";
import { parseFrontend } from "@gateway/wire/postgres/frontend.ts";
import type { Frame } from "@gateway/wire/postgres/frame.ts";
import type { Outbox } from "../outbox.ts";

/** Takes the client's messages as long as they belong to the COPY. */
export interface CopyInbox {
  copyFrame(stopped: () => boolean): Promise<Frame | undefined>;
  wake(): void;
}

const copyInLetter = 0x47;

/** One COPY's data. */
export function copySource(inbox: CopyInbox, out: Outbox): CopySource {
  let stopped = false;
  return {
    begin: (head) => {
      const start = out.writer.begin(copyInLetter);
      out.writer.bytes(head);
      out.writer.end(start);
      void out.flush();
    },
    next: async () => pieceOf(await inbox.copyFrame(() => stopped), stopped),
    stop: () => {
      stopped = true;
      inbox.wake();
    },
  };
}

function pieceOf(frame: Frame | undefined, stopped: boolean): CopyPiece {
  if (frame === undefined) return stopped ? left : unexpected;
  const step = parseFrontend(frame);
  if (step.kind === "violation") return unexpected;
  switch (step.message.kind) {
    case "copyData":
      return { kind: "data", bytes: step.message.body };
    case "copyDone":
      return { kind: "done" };
    case "copyFail":
      return { kind: "failed", reason: step.message.reason };
    default:
      return unexpected;
  }
}

const left = { kind: "left" } as const;
const unexpected = { kind: "failed", reason: "the client broke off its COPY" } as const;
