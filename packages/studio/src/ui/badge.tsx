/** States as a word with a colour: the word says it, the colour repeats it. */

export type Tone = "ok" | "warn" | "bad" | "info" | "accent" | "neutral";

const tones: Readonly<Record<string, Tone>> = {
  finished: "ok",
  failed: "bad",
  denied: "warn",
  cancelled: "neutral",
  running: "info",
  queued: "warn",
  active: "ok",
  starting: "info",
  degraded: "warn",
  draining: "warn",
  offline: "bad",
  alive: "ok",
  dead: "bad",
  silent: "warn",
  added: "ok",
  removed: "bad",
  changed: "accent",
};

export function Badge({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return <span className={`badge ${tone === "neutral" ? "" : tone}`}>{children}</span>;
}

/** A word of the API in its colour; one that is new here is shown without. */
export function State({ name }: { readonly name: string }) {
  return <Badge tone={tones[name] ?? "neutral"}>{name}</Badge>;
}

/** A word without a state: a label, a kind. */
export function Tag({ children }: { readonly children: string }) {
  return <span className="badge plain">{children}</span>;
}

const healths = {
  up: ["ok", "up"],
  down: ["bad", "down"],
  starting: ["info", "starting"],
  disabled: ["neutral", "disabled"],
  unknown: ["neutral", "not probed here"],
} as const;

/** Of a cluster, as the control plane probes it. */
export function Health({ health }: { readonly health: keyof typeof healths }) {
  const [tone, text] = healths[health];
  return <Badge tone={tone}>{text}</Badge>;
}

/** Whether a worker runs under the newest configuration. */
export function UpToDate(props: { readonly behind: boolean; readonly stale: boolean }) {
  if (props.stale) return <Badge tone="warn">stale</Badge>;
  return props.behind ? <Badge tone="warn">behind</Badge> : <Badge tone="ok">newest</Badge>;
}
