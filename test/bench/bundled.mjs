/** Sources of the gateway for a process of a bench, as the gateway's own bundle is made: a loader of sources would be measured with them. */
import { join } from "node:path";
import { build } from "esbuild";

/** Bundles the module `source` into `folder`; answers the file. */
export async function bundled(source, folder) {
  const outfile = join(folder, "bundled.mjs");
  // Under a name that no module of the bundle has.
  const requireOf = 'import { createRequire as bundleRequire } from "node:module";';
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "error",
    // Native code stays where it was installed: a bundle that loads it lies inside the project.
    external: ["koffi"],
    banner: { js: `${requireOf}\nconst require = bundleRequire(${JSON.stringify(source)});` },
  });
  return outfile;
}
