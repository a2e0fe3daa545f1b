/** Pins for the tests of this folder. */
import type { Pin } from "@gateway/core/query/pin.ts";

/** A pin whose state the test turns, and that remembers whether it was ended. */
export function pinOf(): { -readonly [Key in keyof Pin]: Pin[Key] } & { ended: number } {
  const pin = {
    cluster: "c",
    group: "g",
    state: "open" as Pin["state"],
    ended: 0,
    end: () => {
      pin.ended += 1;
      pin.state = "ended";
      return Promise.resolve();
    },
  };
  return pin;
}
