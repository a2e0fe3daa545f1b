/**
 * A deployment that happens on paper: `sst.config.ts` and `infra/` as they are, run against constructors
 * that write down what they are given. No network, no Pulumi, no account.
 *
 * What SST and AWS make of the arguments is not known here; `npm run check:infra` compares them with
 * SST's own types.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { attributeOf, isOutput, outputOf, allOf } from "./outputs.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface Made {
  /** As in the source: `sst.aws.Service`. */
  readonly type: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface Deployed {
  readonly made: readonly Made[];
  readonly outputs: Readonly<Record<string, unknown>>;
  /** The one of that type and name. Throws when there is none. */
  readonly one: (type: string, name: string) => Made;
  readonly all: (type: string) => readonly Made[];
}

export interface Situation {
  readonly stage?: string;
  /** In place of infra/stages.ts; absent: as that file has them. */
  readonly stages?: Readonly<Record<string, unknown>>;
  readonly dev?: boolean;
  /** Values of SST secrets, and variables of whoever deploys. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, string>>;
}

export interface Recorder extends Disposable {
  /** Rejects as `sst deploy` would. `made` is filled until then. */
  deploy(situation: Situation, made?: Made[]): Promise<Deployed>;
}

interface App {
  run(): Promise<Readonly<Record<string, unknown>>>;
}

/** Bundles the sources once; each deployment runs them anew, because they hold state while they run. */
export async function recorder(): Promise<Recorder> {
  // What a deployment leaves behind, a transform, asks for these as well.
  const lasting = {
    $config: (config: unknown) => config,
    $util: { all: allOf, output: outputOf },
    $output: outputOf,
  };
  Object.assign(globalThis, lasting);
  const folder = mkdtempSync(join(tmpdir(), "gateway-infra-"));
  placeCheckout(folder);
  const bundle = join(folder, "config.mjs");
  await build({
    absWorkingDir: root,
    entryPoints: ["sst.config.ts"],
    outfile: bundle,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "error",
    plugins: [otherStages],
  });
  let count = 0;
  return {
    deploy: async (situation, made = []) => {
      count += 1;
      using _surface = placeSurface(situation, folder, made);
      const module = (await import(`${pathToFileURL(bundle).href}?run=${count}`)) as {
        readonly default: App;
      };
      const outputs = await module.default.run();
      return deployedOf(made, outputs);
    },
    [Symbol.dispose]: () => {
      for (const name of Object.keys(lasting)) Reflect.deleteProperty(globalThis, name);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The stages are data; a situation may bring its own. */
const otherStages: Plugin = {
  name: "stages of the situation",
  setup: (bundler) => {
    bundler.onResolve({ filter: /\/stages\.ts$/ }, ({ path, resolveDir, pluginData }) =>
      pluginData === "own" ? undefined : { path: join(resolveDir, path), namespace: "stages" },
    );
    bundler.onLoad({ filter: /./, namespace: "stages" }, ({ path }) => ({
      contents: `import { stages as own } from ${JSON.stringify(path)};
        export const stages = globalThis.$stages ?? own;`,
      resolveDir: root,
      pluginData: "own",
    }));
  },
};

/** What the deployment reads of a checkout: the migrations, and a program that bundles functions. */
function placeCheckout(folder: string): void {
  const bin = join(folder, "packages/gateway/bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "buildLambda.mjs"), "");
  symlinkSync(join(root, "migrations"), join(folder, "migrations"));
}

/** Sets the globals of SST and the environment, until disposed. */
function placeSurface(situation: Situation, folder: string, made: Made[]): Disposable {
  const { stage = "ann", stages, dev = false, secrets, variables } = situation;
  const surface: Readonly<Record<string, unknown>> = {
    $app: { name: "query-gateway", stage },
    $cli: { paths: { root: folder } },
    $dev: dev,
    $stages: stages,
    sst: constructors("sst", made, secrets),
    aws: constructors("aws", made, secrets),
  };
  Object.assign(globalThis, surface);
  const linked = Object.entries(secrets).map(([name, value]) => [`SST_SECRET_${name}`, value]);
  const environment = { ...variables, ...Object.fromEntries(linked) };
  Object.assign(process.env, environment);
  return {
    [Symbol.dispose]: () => {
      for (const name of Object.keys(surface)) Reflect.deleteProperty(globalThis, name);
      for (const name of Object.keys(environment)) Reflect.deleteProperty(process.env, name);
    },
  };
}

/** Every path below it is a namespace and a constructor. */
function constructors(
  path: string,
  made: Made[],
  secrets: Readonly<Record<string, string>>,
): unknown {
  // Only what can be constructed may be constructed through a proxy.
  return new Proxy(function resource() {}, {
    get: (_target, name) => constructors(`${path}.${String(name)}`, made, secrets),
    construct: (_target, [name, args = {}]: [string, Made["args"]?]) => {
      made.push({ type: path, name, args });
      const resource = attributeOf(name);
      if (path === "sst.aws.Router") return withRoutes(resource, made);
      if (path !== "sst.Secret") return resource;
      if (secrets[name] === undefined) throw new Error(`SST: the secret ${name} has no value`);
      return { name, value: outputOf(secrets[name], { secret: true }) };
    },
  });
}

/** A route is a resource of its own, which its method makes. */
function withRoutes(router: object, made: Made[]): object {
  const route = (name: string, url: unknown, args: object): void => {
    made.push({ type: "sst.aws.Router.route", name, args: { ...args, url } });
  };
  return new Proxy(router, {
    get: (target, name) => (name === "route" ? route : Reflect.get(target, name)),
  });
}

function deployedOf(made: readonly Made[], outputs: Deployed["outputs"]): Deployed {
  return {
    made,
    outputs,
    all: (type) => made.filter((one) => one.type === type),
    one: (type, name) => {
      const found = made.find((one) => one.type === type && one.name === name);
      if (found === undefined) throw new Error(`no ${type} ${name} was made`);
      return found;
    },
  };
}

/** Paths of arguments that hold a secret's value, or what was made of one. */
export function secretPaths({ type, name, args }: Made): readonly string[] {
  return pathsIn(args, `${type} ${name}`);
}

function pathsIn(value: unknown, path: string): readonly string[] {
  if (isOutput(value)) return value.isSecret ? [path] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => pathsIn(item, `${path}.${key}`));
}
