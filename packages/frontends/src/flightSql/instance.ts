/**
 * Whose a ticket or handle is: each begins with the mark of the listener that gave it out, in clear, so that another one
 * sees that it is not its own and where it leads. What follows behind the dot is its owner's.
 */
import { Buffer } from "node:buffer";
import type { Host } from "@gateway/core/port/host.ts";
import type { Elsewhere } from "../listener/elsewhere.ts";

const instanceBytes = 6;
/** An instance, and how the fleet reaches it where there is one. */
const markForm = /^[0-9a-f]{12}(?:-[\w-]{1,187})?$/;
/** More than any handle of ours has. */
const handleBytesMax = 1_024;

/** One per listener. */
export class Instance {
  readonly mark: string;

  constructor(host: Pick<Host, "randomBytes">, elsewhere?: Pick<Elsewhere, "mark">) {
    const own = Buffer.from(host.randomBytes(instanceBytes)).toString("hex");
    this.mark = elsewhere?.mark(own) ?? own;
  }

  /** A handle of this listener. */
  handle(rest: string): Buffer {
    return Buffer.from(`${this.mark}.${rest}`, "latin1");
  }

  /** What stands behind the mark; undefined for a handle of another listener, and for what is none. */
  rest(handle: Uint8Array): string | undefined {
    const { mark, rest } = parted(handle);
    return mark === this.mark ? rest : undefined;
  }

  /** The mark of the listener that gave it out, where that is another one. */
  foreign(handle: Uint8Array): string | undefined {
    const { mark } = parted(handle);
    return mark !== this.mark && markForm.test(mark) ? mark : undefined;
  }
}

function parted(handle: Uint8Array): { readonly mark: string; readonly rest: string } {
  const bytes = handle.subarray(0, handleBytesMax);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const dot = text.indexOf(".");
  return dot < 0 ? { mark: "", rest: "" } : { mark: text.slice(0, dot), rest: text.slice(dot + 1) };
}
