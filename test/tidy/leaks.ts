/** Nothing committed may depend on, or tell about, the machine it was written on. */
import type { Tree } from "./tree.ts";

interface Leak {
  readonly pattern: RegExp;
  readonly says: string;
}

const leaks: readonly Leak[] = [
  { pattern: /(?<![\w.)}\]-])\/(?:work|root)\/\w*/, says: "a path of one machine" },
  { pattern: /(?<![\w.)}\]-])\/(?:home|Users)\/[a-z]\w*\//, says: "a path of one machine" },
  {
    pattern: /\b(?:registry|npm)\.(?:npmjs|npmmirror|yarnpkg|pkg)\.\w+/,
    says: "the host of a package registry",
  },
];

/** Machine paths and registry hosts in any committed text. */
export function leakProblems(tree: Tree): readonly string[] {
  return [...tree].flatMap(([path, text]) =>
    leaks.flatMap(({ pattern, says }) => {
      const found = pattern.exec(text);
      if (found === null) return [];
      const line = text.slice(0, found.index).split("\n").length;
      return [`${path}:${line}: ${found[0]} is ${says}`];
    }),
  );
}

/** Addresses in the lock file: they would bind every install to one mirror. */
export function lockProblems(tree: Tree): readonly string[] {
  const resolved = tree.get("package-lock.json")?.match(/"resolved": "http[^"]*"/g) ?? [];
  return resolved.map((line) => `package-lock.json: ${line}`);
}
