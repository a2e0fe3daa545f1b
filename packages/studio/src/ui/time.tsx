/** Times in the viewer's zone; the exact one is a tooltip. What counts up does so once a second, in one timer for all. */
import { useSyncExternalStore } from "react";
import { nowMs } from "../tool/clock.ts";
import { agoText, durationText, exactTime, timeText } from "../tool/format.ts";

let second = nowMs();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function onSecond(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    second = nowMs();
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Unix milliseconds, anew each second. */
export function useNow(): number {
  return useSyncExternalStore(onSecond, () => second);
}

export function Time({ at }: { readonly at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {timeText(at, nowMs())}
    </time>
  );
}

export function Ago({ at }: { readonly at: number }) {
  const now = useNow();
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {agoText(at, now)}
    </time>
  );
}

/** How long something goes on. */
export function Since({ at }: { readonly at: number }) {
  const now = useNow();
  return <span title={exactTime(at)}>{durationText(Math.max(0, now - at))}</span>;
}
