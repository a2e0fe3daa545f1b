/** What the process and its thread of scripts tell each other. */
import type { ScriptUse } from "@gateway/contract/config/script.ts";
import type { ScriptFailure } from "@gateway/core/script/scripts.ts";

/** To the thread. `script` is a number that the process gives each script it opens. */
export type ToThread =
  | {
      readonly kind: "open";
      readonly script: number;
      readonly use: ScriptUse;
      readonly source: string;
    }
  | { readonly kind: "close"; readonly script: number }
  /** `args`: a JSON list. */
  | {
      readonly kind: "call";
      readonly call: number;
      readonly script: number;
      readonly args: string;
    };

/** From the thread, in the order of what it was told. Each is a sign of life. */
export type FromThread =
  | { readonly kind: "ready" }
  | { readonly kind: "opened"; readonly script: number; readonly failure?: ScriptFailure }
  /** `answer`: JSON. */
  | { readonly kind: "answered"; readonly call: number; readonly answer: string }
  | { readonly kind: "failed"; readonly call: number; readonly failure: ScriptFailure };
