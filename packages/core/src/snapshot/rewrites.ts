/**
 * Scripts that change a statement once its cluster is known, before and after it is put into the engine's words.
 *
 * Policies judged what the client sent. So what a script writes has to be one statement of the same kind that does no
 * more than the one before and takes the same parameters; anything else refuses the query.
 */
import { scriptSqlMax, type ScriptPlace } from "@gateway/contract/script.ts";
import type { TranslationConfig } from "@gateway/contract/config/translation.ts";
import { gatewayError, type GatewayError } from "../error.ts";
import { wrongIn } from "../guard/changed.ts";
import { isOfSession } from "../guard/kinds.ts";
import type { Admitted } from "../query/query.ts";
import { err, ok, type Result } from "../result.ts";
import type { AskRewrite, AskScript } from "../route/rule/ask.ts";
import type { LocalRewrites } from "../script/scripts.ts";
import type { Dialect } from "../sql/dialect.ts";

type When = ScriptPlace["when"];

/** The rewrites of one group, in their order. */
export type Rewrites = Readonly<Record<When, readonly Rewrite[]>>;

interface Rewrite {
  readonly name: string;
  readonly ask: AskRewrite;
}

export interface RewriteParts {
  readonly translation: Pick<TranslationConfig, "scripts"> | undefined;
  /** Whether access control judges the group's statements. */
  readonly policed: boolean;
  readonly ask: AskScript;
  /** What this process adds: asked after the scripts of the configuration. */
  readonly local: Pick<LocalRewrites, "list"> | undefined;
  readonly askLocal: AskRewrite;
}

/** Undefined where none changes the group's statements. */
export function compileRewrites(parts: RewriteParts, group: string): Rewrites | undefined {
  const { translation, local, policed } = parts;
  const ask: AskRewrite = (name, asked) => parts.ask("rewrite", name, asked);
  // The check refuses a configuration whose own scripts stand behind a policy, and knows nothing of what a process adds.
  const askLocal = policed ? refused : parts.askLocal;
  const own = [
    ...(translation?.scripts ?? []).map(({ script, ...rest }) => ({ ...rest, name: script, ask })),
    ...(local?.list ?? []).map((one) => ({ ...one, ask: askLocal })),
  ].filter(({ clusterGroups }) => clusterGroups?.includes(group) ?? true);
  if (own.length === 0) return undefined;
  const of = (wanted: When): readonly Rewrite[] =>
    own.flatMap(({ when, name, ask: asks }) => (when === wanted ? [{ name, ask: asks }] : []));
  return { before: of("before"), after: of("after") };
}

/**
 * What a process adds for groups that the configuration does not have, which changes no statement. A worker is told its
 * groups by the snapshot alone, so nobody could refuse the name when its file was read.
 */
export function ofUnknownGroups(
  local: Pick<LocalRewrites, "list"> | undefined,
  groups: Readonly<Record<string, unknown>>,
): readonly { readonly script: string; readonly clusterGroup: string }[] {
  return (local?.list ?? []).flatMap(({ name, clusterGroups = [] }) =>
    clusterGroups
      .filter((group) => !Object.hasOwn(groups, group))
      .map((clusterGroup) => ({ script: name, clusterGroup })),
  );
}

/** What access control made of a text is what was proven of it, and sending it unchanged is not what the process was told. */
const refused: AskRewrite = (name) =>
  Promise.resolve(err(failed(name, "would change a statement that access control judged")));

/** The cluster that was chosen, as scripts are told of it. */
export type RewritePlace = Pick<ScriptPlace, "cluster" | "engine"> & { readonly dialect: Dialect };

export interface Rewriting {
  readonly rewrites: Rewrites;
  readonly place: RewritePlace;
}

/** `sql` as the scripts leave it. It stands in the client's dialect before, and in the engine's after. */
export async function rewritten(
  query: Admitted,
  sql: string,
  when: When,
  { rewrites, place }: Rewriting,
): Promise<Result<string, GatewayError>> {
  if (isOfSession(query.statement)) return ok(sql);
  const dialect = when === "before" ? query.session.dialect : place.dialect;
  const { group } = query;
  let text = sql;
  for (const { name, ask } of rewrites[when]) {
    if (text.length > scriptSqlMax) return err(failed(name, "is given no text of that length"));
    const beside: ScriptPlace = { ...place, when };
    const answer = await ask(name, { query, group, sql: text, beside });
    if (!answer.ok) return answer;
    if (answer.value === null || answer.value === text) continue;
    const placeholders = query.session.dialect;
    const wrong = wrongIn(text, answer.value, { texts: dialect, placeholders });
    if (wrong !== undefined) return err(failed(name, wrong));
    text = answer.value;
  }
  return ok(text);
}

function failed(name: string, what: string): GatewayError {
  return gatewayError("script.failed", {
    message: `The script ${name} of the configuration ${what}.`,
  });
}
