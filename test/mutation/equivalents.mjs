/**
 * Wrongs that leave the same program: no test can notice them, so they are not asked for. Each was read, and says why. By
 * the file and what was made of it, since lines move; a file where the same words may be a real wrong is not listed, or
 * says by `becomes` which of them it means: the text that stands there then.
 */
export const equivalents = [
  {
    file: "packages/core/src/run/step/attempt.ts",
    whats: ["this.#free(); is gone", "if (signal.aborted) never"],
    why: "the relay looks at the signal before it asks the engine, and the slot is given back with the attempt",
  },
  {
    file: "packages/core/src/run/step/attempt.ts",
    whats: ["if (slot.release === undefined) always"],
    why: "a slot is given back by a promise as well: it only costs a turn",
  },
  {
    file: "packages/core/src/run/step/attempt.ts",
    whats: ["if (ignored) always"],
    why: "an engine that did not ignore its cancel is done by then: the record is closed a turn later",
  },
  {
    file: "packages/access/src/client/ldap/directory.ts",
    whats: ["if (connection.isOpen && !signal.aborted) always"],
    why: "a connection that was kept is looked at again before it is used, and an abort has destroyed it",
  },
  {
    file: "packages/access/src/client/ldap/directory.ts",
    whats: ['signal.removeEventListener("abort", leave); is gone'],
    why: "who had its turn is in no line any more, and a promise is settled once",
  },
  {
    file: "packages/access/src/client/ldap/connection.ts",
    whats: ['socket.off("close", fail); is gone'],
    why: "the promise is settled by then, and a second refusal of it is none",
  },
  {
    file: "packages/core/src/guard/guards.ts",
    whats: ["if (readings === undefined) always"],
    why: "what is remembered is only not made again; the same text is read in the same way",
  },
  {
    file: "packages/core/src/guard/guards.ts",
    whats: ['config.type === "script" ? always'],
    why: "guards of other kinds name no script: it is undefined there as well",
  },
  {
    file: "packages/core/src/guard/guards.ts",
    whats: ["guard.message ? always"],
    why: "a name without a message is one of which the map says nothing: it is undefined there as well",
  },
  {
    file: "packages/core/src/route/rule/ask.ts",
    whats: ["> becomes >=", "sql.length > scriptSqlMax ? always"],
    why: "the beginning of a text that is as long as its beginning is the text",
  },
  {
    file: "packages/access/src/catalog/engine.ts",
    whats: ["|| becomes &&"],
    why: "an unknown table has no kind, and one that is known has: they differ by that as well",
  },
  {
    file: "packages/core/src/guard/guards.ts",
    whats: ["ask === undefined ? never"],
    why: "who looks at it asks whether it is undefined, not whether it is there",
  },
  {
    file: "packages/access/src/policy/cerbos.ts",
    whats: ["what stands after ?? is gone"],
    why: "the table was asked a line before whether it has the operator",
  },
  {
    file: "packages/core/src/run/step/identified.ts",
    whats: ["written instanceof Promise ? always", "asked instanceof Promise ? always"],
    why: "a value that is there may be awaited as well: it only costs a turn",
  },
  {
    file: "packages/core/src/run/step/way.ts",
    whats: ["police instanceof Promise ? always"],
    why: "as in identified.ts",
  },
  {
    file: "packages/core/src/route/rule/queryRegex.ts",
    whats: ["if (!compiled.ok) never"],
    why: "no configuration holds a pattern that does not compile; the throw says so of a bug",
  },
  {
    file: "packages/core/src/route/route.ts",
    whats: ["what stands after ?? is gone"],
    becomes: "this.#routers[index]?.step",
    why: "an index of the list's own: the compiler alone asks what else it would be",
  },
  {
    file: "packages/core/src/route/rule/userGroup.ts",
    whats: ["first === undefined ? never"],
    why: "no group of users is called undefined: the map answers undefined itself",
  },
  {
    file: "packages/core/src/run/step/live.ts",
    whats: ["what stands after ?? is gone"],
    becomes: "maxRows",
    why: "no number of rows is more than undefined, as none is more than what has no end",
  },
  {
    file: "packages/core/src/run/step/live.ts",
    whats: ["what stands after ?? is gone"],
    becomes: "this.#startedMs",
    why: "a statement is given less only behind its start; the compiler alone asks what it would be before",
  },
  {
    file: "packages/core/src/run/step/live.ts",
    whats: ["true becomes false"],
    why: "a signal aborts once, and who was told once may be told only once",
  },
  {
    file: "packages/access/src/catalog/icebergRest.ts",
    whats: ["what stands after ?? is gone"],
    becomes: "path.at(-1)",
    why: "a table's path has a name",
  },
  {
    file: "packages/access/src/client/oidc/oidc.ts",
    whats: ['if (key === "unknown") never'],
    why: "a word has no key and no algorithms: verifying by it throws, which refuses as well",
  },
  {
    file: "packages/access/src/policy/remotePolicy.ts",
    whats: ["if (this.#config.cacheTtlMs > 0) always"],
    why: "what is remembered then is over at once",
  },
  {
    file: "packages/core/src/run/step/live.ts",
    whats: ['backendIdentity.mode === "serviceAccount" ? never'],
    why: "the service account has no name: it is undefined there as well",
  },
  {
    file: "packages/access/src/guard/webhook.ts",
    whats: ["cacheTtlMs > 0 ? always"],
    why: "nothing is remembered then, under whatever key it is looked for",
  },
  {
    file: "packages/access/src/client/static/keyPair.ts",
    whats: ["user === undefined ? never"],
    why: "it is undefined only where nobody has a key, and then no user of any name has one",
  },
  {
    file: "packages/access/src/signOn/oidcSignOn.ts",
    whats: ['if (key === "unknown") never'],
    why: "as in oidc.ts",
  },
  {
    file: "packages/access/src/client/ldap/directory.ts",
    whats: ['list.filter((one) => typeof one === "string") keeps everything'],
    why: "a missing attribute comes as an empty list, and bytes only of names that a configuration can not hold",
  },
  {
    file: "packages/access/src/client/static/static.ts",
    whats: ["if (isTooLong(password)) never"],
    why: "none of that length was ever right, so none is remembered; it is only not hashed",
  },
  {
    file: "packages/core/src/run/step/attempt.ts",
    whats: ["what stands after ?? is gone"],
    becomes: "(await backend.estimateScan?.(query, signal))",
    why: "only an engine that can estimate is asked; the compiler alone asks what else it would be",
  },
  ...[
    ["packages/access/src/catalog/engine.ts", "other.columns[index]"],
    ["packages/access/src/catalog/engine.ts", "backend.dialect"],
    ["packages/access/src/client/ldap/directory.ts", "this.#config.userSearchBase"],
    ["packages/access/src/client/oidc/oidc.ts", "identity.expiresAtMs"],
    ["packages/access/src/client/static/saslPrep.ts", "character.codePointAt(0)"],
    ["packages/access/src/client/static/static.ts", "costs[like]"],
    ["packages/access/src/client/token.ts", "parts[0]"],
    ["packages/access/src/client/token.ts", "parts[1]"],
    ["packages/access/src/policy/ucast.ts", "comparisons[operator]"],
    ["packages/core/src/route/route.ts", "fallbacks[index]"],
    ["packages/core/src/route/route.ts", "asked"],
    ["packages/core/src/run/step/metrics.ts", "args[at]"],
    ["packages/core/src/run/step/metrics.ts", "args.at(-1)"],
    ["packages/core/src/run/step/attempt.ts", "this.#running"],
  ].map(([file, becomes]) => ({
    file,
    whats: ["what stands after ?? is gone"],
    becomes,
    why: "it is always there; the compiler alone can not know",
  })),
  {
    file: "packages/access/src/client/static/hasher.ts",
    whats: ["|| becomes &&"],
    why: "without a thread nobody is taken from the line, and the line was asked before whether it is empty",
  },
];
