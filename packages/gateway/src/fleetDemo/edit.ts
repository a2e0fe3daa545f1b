/** One edit through the admin API, and how long each worker takes until it runs under it, by its own status. */
import type { Clock } from "@gateway/core/port/clock.ts";
import { signOnLinkSchema, studioPaths } from "@gateway/contract/studioApi.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { z } from "zod";
import { adminName, groupName } from "./config.ts";
import type { DemoProcess } from "./process.ts";

export interface Arrival {
  readonly worker: string;
  /** From the moment the admin API had answered; whole milliseconds. */
  readonly ms: number;
}

/** Given up after it. */
const arrivalMsMax = 30_000;
/** Between two looks at a worker. */
const lookMs = 2;

const documentSchema = z.looseObject({ body: z.record(z.string(), z.unknown()) });
const writtenSchema = z.looseObject({ revision: z.string() });
const statusSchema = z.looseObject({
  activeRevision: z.string().nullable(),
  lastError: z.string().nullable(),
});
type Status = z.output<typeof statusSchema>;

/** Waits until every worker has a configuration. */
export async function ready(
  workers: readonly DemoProcess[],
  clock: Clock,
): Promise<Result<void, string>> {
  for (const worker of workers) {
    const found = await looked(clock, async () => isConfigured(await statusOf(worker)));
    if (!found) return err(`${worker.name}: ${(await statusOf(worker))?.lastError ?? "no answer"}`);
  }
  return ok(undefined);
}

/** Sets `maxRows` of the group; `password` is the first administrator's. */
export async function editAndWatch(
  control: DemoProcess,
  workers: readonly DemoProcess[],
  { clock, password, maxRows }: Edit,
): Promise<Result<readonly Arrival[], string>> {
  const url = `${urlOf(control)}/admin/groups/${groupName}`;
  const login = Buffer.from(`${adminName}:${password}`, "utf8").toString("base64");
  const headers = { authorization: `Basic ${login}`, "content-type": "application/json" };
  const read = await fetch(url, { headers });
  const document = documentSchema.safeParse(await read.json());
  if (!document.success) return err(`the admin API answers ${read.status}`);
  const put = await fetch(url, {
    method: "PUT",
    headers: { ...headers, "if-match": read.headers.get("etag") ?? "" },
    body: JSON.stringify({ ...document.data.body, maxRows }),
  });
  const fromMs = clock.nowMs();
  const written = writtenSchema.safeParse(await put.json());
  if (!written.success) return err(`the admin API answers ${put.status}`);
  const { revision } = written.data;
  const arrivals = await Promise.all(
    workers.map(async (worker) => {
      const found = await looked(
        clock,
        async () => (await statusOf(worker))?.activeRevision === revision,
      );
      return { worker: worker.name, ms: Math.round(clock.nowMs() - fromMs), found };
    }),
  );
  const late = arrivals.find(({ found }) => !found);
  return late === undefined ? ok(arrivals) : err(`${late.worker} did not take the edit`);
}

/** The console's address with a one-time link in it. */
export async function consoleOf(
  control: DemoProcess,
  password: string,
): Promise<Result<string, string>> {
  const url = urlOf(control);
  const login = Buffer.from(`${adminName}:${password}`, "utf8").toString("base64");
  const headers = { authorization: `Basic ${login}`, "content-type": "application/json" };
  const made = await fetch(`${url}${studioPaths.signOnLinks}`, { method: "POST", headers });
  const link = signOnLinkSchema.safeParse(await made.json());
  return link.success ? ok(url + link.data.path) : err(`the admin API answers ${made.status}`);
}

export interface Edit {
  readonly clock: Clock;
  readonly password: string;
  readonly maxRows: number;
}

/** Address of the admin listener. */
export function urlOf({ ports }: Pick<DemoProcess, "ports">): string {
  return `http://127.0.0.1:${ports["adminApi"]}`;
}

function isConfigured(status: Status | undefined): boolean {
  return status !== undefined && status.activeRevision !== null;
}

async function statusOf(worker: DemoProcess): Promise<Status | undefined> {
  const response = await fetch(`${urlOf(worker)}/worker/status`);
  return statusSchema.safeParse(await response.json()).data;
}

/** Looks until the condition holds; false when that takes too long. */
async function looked(clock: Clock, look: () => Promise<boolean>): Promise<boolean> {
  const endMs = clock.nowMs() + arrivalMsMax;
  while (clock.nowMs() < endMs) {
    if (await look()) return true;
    await new Promise<void>((resolve) => {
      clock.timer(lookMs, resolve);
    });
  }
  return false;
}
