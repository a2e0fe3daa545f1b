/** Scripts of the configuration: compiled once for a generation, asked on behalf of queries, never on the main thread. */
import type { ScriptConfig, ScriptUse } from "@gateway/contract/config/script.ts";
import type { ScriptAnswers, ScriptPlace, ScriptQuery } from "@gateway/contract/script.ts";
import type { Result } from "../result.ts";

/** Why a script gave no usable answer. `busy`: too many calls wait for the sandbox. */
export type ScriptFailureCode = "time" | "memory" | "threw" | "answer" | "lost" | "busy";

export interface ScriptFailure {
  readonly code: ScriptFailureCode;
  /** For the operator: what it threw, with the line. It may repeat what a client wrote, so clients are not shown it. */
  readonly detail: string;
  /** In its source, from 1. */
  readonly line?: number | undefined;
}

export interface ScriptCall {
  readonly query: ScriptQuery;
  /** Second argument, where the use has one. */
  readonly beside?: unknown;
}

/** The scripts of one configuration. Disposing forgets them. */
export interface Scripts extends AsyncDisposable {
  /** Asks the script of that name and use, which the configuration has. Users take turns. Never throws. */
  ask<Use extends ScriptUse>(
    use: Use,
    name: string,
    call: ScriptCall,
  ): Promise<Result<ScriptAnswers[Use], ScriptFailure>>;
}

/** What changes statements in this process alone, whatever its configuration: opened at the start, closed at the end. */
export interface LocalRewrites extends AsyncDisposable {
  /** In their order. */
  readonly list: readonly LocalRewrite[];
  /** Asks the rewrite of that name. Users take turns. Never throws. */
  ask(name: string, call: ScriptCall): Promise<Result<ScriptAnswers["rewrite"], ScriptFailure>>;
}

export interface LocalRewrite {
  /** For people: logs and errors name it. Unlike that of any other in the list. */
  readonly name: string;
  readonly when: ScriptPlace["when"];
  /** Absent: all. */
  readonly clusterGroups?: readonly string[] | undefined;
}

/** A script that can not be opened. */
export interface ScriptFault {
  readonly name: string;
  /** With the line in its source where one is known: `line 3: …`. */
  readonly reason: string;
  /** The same without the line, and the line from 1. */
  readonly detail: string;
  readonly line?: number | undefined;
}

/** Where scripts run. */
export interface ScriptSandboxes {
  /** Compiles all of them, or answers each that does not compile and leaves none open. */
  open(
    scripts: Readonly<Record<string, ScriptConfig>>,
  ): Promise<Result<Scripts, readonly ScriptFault[]>>;
}
