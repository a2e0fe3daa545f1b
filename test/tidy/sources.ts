/** What a linter can not say about our sources: words with a better one, length, files nobody uses or nobody has. */
import { posix } from "node:path";
import { filesOf, sourcesOf, type Tree } from "./tree.ts";

const linesMax = 400;

interface Ban {
  readonly word: RegExp;
  /** What to write, shown beside the finding. */
  readonly instead: string;
  /** Paths it is banned in; the sources of all packages when absent. */
  readonly only?: RegExp;
  /** Paths that are the replacement's own home. */
  readonly except?: RegExp;
  /** Looks into comments as well. */
  readonly inComments?: true;
}

const pure = /^packages\/(contract|core|wire)\//;
const host = /^packages\/gateway\/src\/host\//;
const entry = /^(?:packages\/gateway\/src\/entry\/|packages\/studio\/src\/main\.tsx$)/;
/** A browser has no Host: Studio's own clock stands there. */
const hostOrBrowser = /^packages\/(?:gateway\/src\/host\/|studio\/src\/tool\/clock\.ts$)/;

/** The allow-list is the `except` column and nothing else; add a path there with its reason. */
const bans: readonly Ban[] = [
  { word: /\bDate\.now\(/, instead: "clock.nowMs from Host", except: hostOrBrowser },
  { word: /\bnew Date\(\s*\)/, instead: "clock.nowMs from Host", except: host },
  { word: /\bperformance\.now\(/, instead: "the monotonic clock of Host", except: host },
  { word: /\bMath\.random\(/, instead: "host.random", except: host },
  { word: /\bprocess\.env\b/, instead: "an argument read in entry/", except: entry },
  { word: /\bconsole\.\w/, instead: "the log of Host" },
  {
    word: /\b(?:setTimeout|setInterval|setImmediate)\(/,
    instead: "the clock",
    only: pure,
  },
  { word: /\b(?:randomUUID|getRandomValues)\(/, instead: "host.random", only: pure },
  { word: /\bBuffer\b/, instead: "Uint8Array", only: pure },
  { word: /\bFIXME\b/, instead: "fixing it", inComments: true },
  { word: /\bTODO\b(?! ?\(?#\d)/, instead: "TODO(#issue)", inComments: true },
  { word: /\bfor now\b/i, instead: "the finished thing", inComments: true },
];

/** Banned words in sources, one finding per line, with what to write instead. */
export function wordProblems(tree: Tree): readonly string[] {
  return [...sourcesOf(tree)].flatMap(([path, text]) => {
    const lines = text.split("\n");
    const codeLines = codeOf(text).split("\n");
    return bans
      .filter(({ only, except }) => (only?.test(path) ?? true) && !(except?.test(path) ?? false))
      .flatMap((ban) => {
        const looked = ban.inComments === true ? lines : codeLines;
        return looked.flatMap((line, index) => {
          const word = ban.word.exec(line)?.[0];
          return word === undefined ? [] : [`${path}:${index + 1}: ${word} → ${ban.instead}`];
        });
      });
  });
}

/** Names of files in comments that no file of the tree has, one finding for each. */
export function commentProblems(tree: Tree): readonly string[] {
  const ends = new Set([...tree.keys()].flatMap(endsOf));
  const programs = filesOf(tree, (path) =>
    /^(packages|test|infra)\/.*(?<!_pb\.d)\.(tsx?|mjs)$/.test(path),
  );
  return [...programs].flatMap(([path, text]) => {
    const code = codeOf(text).split("\n");
    return text.split("\n").flatMap((line, index) => {
      const named = line.matchAll(
        /(?<![\w*/.$}<-])(?:[\w.-]+\/)*[\w.-]*\w\.(?:tsx?|mjs|sql|md)\b(?!\.\w)/g,
      );
      return [...named]
        .filter((match) => code[index]?.[match.index] === " ")
        .filter(([name]) => !ends.has(name.replace(/^(?:\.\.?\/)+/, "")))
        .map(([name]) => `${path}:${index + 1}: there is no ${name}`);
    });
  });
}

/** `a/b/c`, `b/c` and `c`: how people name a file; those of a package without its `src` as well. */
function endsOf(path: string): readonly string[] {
  return [path, path.replace("/src/", "/")].flatMap((name) => {
    const parts = name.split("/");
    return parts.map((_, at) => parts.slice(at).join("/"));
  });
}

/**
 * Programs, tests and functions of the database that are longer than one sitting. Numbered migrations may be
 * longer: each is applied once and then history, and copies the functions that are read.
 */
export function lengthProblems(tree: Tree): readonly string[] {
  const programs = filesOf(tree, (path) =>
    /^(?:(?:packages|test)\/.*(?<!_pb\.d)\.(?:tsx?|mjs)|migrations\/functions\/[^/]+\.sql)$/.test(
      path,
    ),
  );
  return [...programs].flatMap(([path, text]) => {
    const lines = text.replace(/\n$/, "").split("\n").length;
    return lines > linesMax ? [`${path}: ${lines} lines, at most ${linesMax}`] : [];
  });
}

/**
 * Sources that nothing uses. A file's own test is no use of it: tested dead code is still dead.
 * Entry points, and the threads that `build.mjs` names, are used by the process itself.
 */
export function deadFileProblems(tree: Tree): readonly string[] {
  const used = usedBy(filesOf(tree, (name) => /\.(tsx?|mjs)$/.test(name)));
  return unused(tree, used).map((path) => `${path}: nothing imports it but its own test`);
}

/** Sources that only tests, suites and rigs use: helpers of tests, which the bundle leaves out. */
export function testOnlyProblems(tree: Tree): readonly string[] {
  const programs = filesOf(
    tree,
    (path) => /\.(tsx?|mjs)$/.test(path) && !/^test\/|\.(test|suite)\.tsx?$|\/rig\//.test(path),
  );
  const somewhere = usedBy(filesOf(tree, (name) => /\.(tsx?|mjs)$/.test(name)));
  return unused(tree, usedBy(programs))
    .filter((path) => somewhere.has(path))
    .map((path) => `${path}: only tests import it; helpers of tests stand in a rig/`);
}

function unused(tree: Tree, used: ReadonlySet<string>): readonly string[] {
  const threads = new Set(
    [...(tree.get("packages/gateway/bin/build.mjs") ?? "").matchAll(/packages\/[\w/]+\.ts/g)].map(
      ([path]) => path,
    ),
  );
  return [...sourcesOf(tree).keys()].filter(
    (path) => !used.has(path) && !threads.has(path) && !entry.test(path),
  );
}

function usedBy(files: Tree): ReadonlySet<string> {
  const used = new Set<string>();
  for (const [path, text] of files) {
    const own = path.replace(/\.test\.ts$/, ".ts");
    for (const target of importsOf(path, text)) if (target !== own) used.add(target);
  }
  return used;
}

/** The text with comments blanked out; strings stay, and so do line numbers. */
export function codeOf(text: string): string {
  const stringOrComment =
    /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  return text.replace(stringOrComment, (match, literal: string | undefined) =>
    literal === undefined ? match.replace(/[^\n]/g, " ") : match,
  );
}

function importsOf(path: string, text: string): readonly string[] {
  return [...codeOf(text).matchAll(/\b(?:from|import)\s*\(?\s*["']([^"']+)["']/g)].flatMap(
    ([, name = ""]) => {
      if (name.startsWith(".")) return [posix.join(posix.dirname(path), name)];
      const workspace = /^@gateway\/([^/]+)\/(.+)$/.exec(name);
      return workspace === null ? [] : [`packages/${workspace[1]}/src/${workspace[2]}`];
    },
  );
}
