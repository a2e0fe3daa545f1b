/**
 * How long texts may be: those that somebody here or an engine in the gateway parses, plans or writes anew, and those
 * that go on to a server in their client's own words, which reads them by its own limits.
 */
import {
  ownStatementDefaults,
  statementDefaults,
  type ListenerConfig,
  type StatementLimits,
} from "@gateway/contract/config/listener.ts";

type Unlimited = Omit<ListenerConfig, keyof StatementLimits | "ownWords">;
type MaybeLimited = Unlimited & { readonly [Field in keyof StatementLimits]?: number | undefined };

/** The config of a listener whose clients' texts may go on as they are. What is configured counts for all of them. */
export function withOwnWords<Config extends MaybeLimited>(
  config: Config,
): Omit<Config, keyof StatementLimits> & ListenerConfig {
  const { maxStatementBytes: bytes, maxStatementTokens: tokens } = config;
  const limits = (defaults: StatementLimits): StatementLimits => ({
    maxStatementBytes: bytes ?? defaults.maxStatementBytes,
    maxStatementTokens: tokens ?? defaults.maxStatementTokens,
  });
  return { ...config, ...limits(statementDefaults), ownWords: limits(ownStatementDefaults) };
}

/** `passes`: the text goes on in its client's own words, and nothing here decides by it. */
export function limitsOf(config: ListenerConfig, passes: boolean): StatementLimits {
  return (passes ? config.ownWords : undefined) ?? config;
}
