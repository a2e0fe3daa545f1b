/** What was decided of texts, remembered for all who are told the same: by the text, and by its form. */
import type { GatewayError } from "../../error.ts";
import type { Clock } from "../../port/clock.ts";
import type { SqlAction, TouchedColumns } from "../../port/sql/sqlReading.ts";
import { ok, type Result } from "../../result.ts";
import type { Dialect } from "../../sql/dialect.ts";
import type { ListedDecision } from "../catalogued.ts";
import { filled, formOf, templateOf, type Template } from "./form.ts";
import { Recent } from "../recent.ts";
import type { Rewritten } from "../rewrite.ts";

/** What was decided of one place where a table is named. */
export interface TableJudgement {
  readonly table: string;
  readonly action: SqlAction;
  readonly touched: TouchedColumns | undefined;
  readonly decision: ListedDecision;
}

/** What was decided of a text, for all who are told the same. */
export interface Judged {
  readonly outcome: Result<string, GatewayError>;
  /** What is left of the text in an allowed one. */
  readonly moved: Rewritten["moved"];
  readonly acted: readonly string[];
  readonly tables: readonly TableJudgement[];
  /** When the first of its decisions ends. */
  readonly untilMs: number;
}

/** A text and everything else that a decision about it depends on. */
export interface JudgedText {
  readonly sql: string;
  readonly dialect: Dialect;
  readonly others: readonly unknown[];
}

/** Texts whose decisions are remembered, as many forms, and the longest text. */
const judgedMax = 2_000;
const lengthMax = 16_384;

interface JudgedForm {
  readonly judged: Judged;
  readonly template: Template;
}

export class JudgedTexts {
  readonly #clock: Pick<Clock, "nowMs"> | undefined;
  readonly #texts = new Recent<Judged>(judgedMax);
  readonly #forms = new Recent<JudgedForm>(judgedMax);

  /** Without a clock no text is remembered whose decisions end. */
  constructor(clock: Pick<Clock, "nowMs"> | undefined) {
    this.#clock = clock;
  }

  get(text: JudgedText): Judged | undefined {
    // Before a key is made of it.
    if (text.sql.length > lengthMax) return undefined;
    const known = this.#texts.get(keyOf(text, text.sql));
    if (known !== undefined && this.#holds(known)) return known;
    const form = formOf(text.sql, text.dialect);
    if (form === undefined) return undefined;
    const alike = this.#forms.get(keyOf(text, form.key));
    if (alike === undefined || !this.#holds(alike.judged)) return undefined;
    return { ...alike.judged, outcome: ok(filled(alike.template, text.sql, form)) };
  }

  put(text: JudgedText, judged: Judged): void {
    const { outcome, moved } = judged;
    // What a busy or broken parser says is true for a moment only.
    const stays = outcome.ok || outcome.error.retryAfterMs === undefined;
    if (!stays || text.sql.length > lengthMax || !this.#holds(judged)) return;
    this.#texts.put(keyOf(text, text.sql), judged);
    // A refusal may speak of its text.
    if (!outcome.ok) return;
    const form = formOf(text.sql, text.dialect);
    if (form === undefined) return;
    const template = templateOf(outcome.value, form, moved);
    if (template !== undefined) this.#forms.put(keyOf(text, form.key), { judged, template });
  }

  #holds({ untilMs }: Judged): boolean {
    if (untilMs === Number.POSITIVE_INFINITY) return true;
    return this.#clock !== undefined && this.#clock.nowMs() < untilMs;
  }
}

function keyOf({ dialect, others }: JudgedText, text: string): string {
  return JSON.stringify([dialect, ...others, text]);
}
