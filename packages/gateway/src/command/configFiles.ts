/**
 * `gateway config diff|apply|export|new-epoch|rekey`: moves a file in and out of the database that a
 * control plane runs on, whether one is running or not. Access to the database is the permission.
 */
import type { Difference } from "@gateway/control/config/configuration.ts";
import { revisionText } from "@gateway/contract/revision.ts";
import { stringify } from "yaml";
import { refusalLines } from "../control/firstConfig.ts";
import { exitCode, type Terminal } from "./terminal.ts";
import { withHostAccess, type HostAccess } from "./withHostAccess.ts";

export const configActions = ["diff", "apply", "export", "new-epoch", "rekey"] as const;
export type ConfigAction = (typeof configActions)[number];

/** Rows of a sort that are sealed anew at a time. */
const rekeyRows = 500;

/** Whom revisions and the audit log name. */
const author = { by: "host", address: undefined };

/** `diff` ends with 1 when there is a difference, as diff(1) does. */
export function configCommand(
  action: ConfigAction,
  file: string,
  terminal: Terminal,
): Promise<number> {
  return withHostAccess(file, terminal, (access, { document }) =>
    act(action, { access, document, terminal }),
  );
}

interface Acting {
  readonly access: HostAccess;
  /** The file as written. */
  readonly document: unknown;
  readonly terminal: Terminal;
}

async function act(action: ConfigAction, acting: Acting): Promise<number> {
  const { access, document, terminal } = acting;
  switch (action) {
    case "diff":
      return diff(access, document, terminal);
    case "apply":
      return written(await access.configuration.import(document, author), terminal);
    case "export":
      terminal.out(stringify(access.configuration.export()));
      return exitCode.clean;
    case "new-epoch":
      return written(await access.configuration.newEpoch(author), terminal);
    case "rekey":
      return rekey(access, terminal);
  }
}

async function diff(
  { configuration }: HostAccess,
  file: unknown,
  terminal: Terminal,
): Promise<number> {
  const compared = await configuration.compare(file);
  if (!compared.ok) return refused(refusalLines(compared.error), terminal);
  for (const difference of compared.value) {
    for (const line of differenceLines(difference)) terminal.out(`${line}\n`);
  }
  if (compared.value.length > 0) return exitCode.config;
  terminal.out("The file and the database hold the same configuration.\n");
  return exitCode.clean;
}

/** `+ cluster/duck`, `- …`, or `~ cluster/duck` with one indented line per path. */
export function differenceLines({ object, kind, changes }: Difference): readonly string[] {
  const name = `${object.kind}/${object.name}`;
  switch (kind) {
    case "added":
      return [`+ ${name}`];
    case "removed":
      return [`- ${name}`];
    case "changed":
      return [
        `~ ${name}`,
        ...changes.map(({ path, from, to }) => `    ${path}: ${shown(from)} → ${shown(to)}`),
      ];
  }
}

function shown(value: unknown): string {
  return value === undefined ? "(absent)" : JSON.stringify(value);
}

type Outcome = Awaited<ReturnType<HostAccess["configuration"]["import"]>>;

function written(outcome: Outcome, terminal: Terminal): number {
  if (!outcome.ok) return refused(refusalLines(outcome.error), terminal);
  const { revision, changed } = outcome.value;
  terminal.out(`${changed ? "Revision" : "Nothing changed; revision"} ${revisionText(revision)}\n`);
  return exitCode.clean;
}

async function rekey({ configuration }: HostAccess, terminal: Terminal): Promise<number> {
  const resealed = await configuration.rekey(rekeyRows);
  if (!resealed.ok)
    return refused(
      [`the rows can not be read (${resealed.error.code}: ${resealed.error.detail})`],
      terminal,
    );
  terminal.out(`${resealed.value} rows sealed under the current key.\n`);
  return exitCode.clean;
}

function refused(lines: readonly string[], terminal: Terminal): number {
  for (const line of lines) terminal.err(`${line}\n`);
  return exitCode.config;
}
