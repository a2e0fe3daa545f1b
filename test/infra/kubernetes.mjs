/**
 * What a manifest may hold, by the schemas of a Kubernetes release, which are in its Go module. As strict as the
 * API server with `--validate=strict`: a field that it does not know is refused.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { command } from "../real/command.mjs";

export const kubernetesVersion = "1.34.0";
const module = `k8s.io/kubernetes@v${kubernetesVersion}`;
/** Kinds of others, whose schemas no registry has: their fields are looked at in the test. */
const foreign = /^monitoring\.coreos\.com\//;

/** Answers a function from a manifest to what is wrong with it. */
export async function kubernetesSchemas() {
  const downloaded = await command("go", ["mod", "download", "-json", module], { seconds: 180 });
  if (downloaded.code !== 0) throw new Error(downloaded.stdout.slice(0, 300));
  const folder = join(JSON.parse(downloaded.stdout).Dir, "api/openapi-spec/swagger.json");
  const { definitions } = JSON.parse(readFileSync(folder, "utf8"));
  const kinds = new Map(
    Object.entries(definitions).flatMap(([name, definition]) =>
      (definition["x-kubernetes-group-version-kind"] ?? []).map(({ group, version, kind }) => [
        `${group === "" ? version : `${group}/${version}`} ${kind}`,
        name,
      ]),
    ),
  );
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema({ $id: "kubernetes", definitions: mapped(definitions, strictly) });
  return (manifest) => {
    const { apiVersion, kind } = manifest;
    if (foreign.test(apiVersion)) return [];
    const name = kinds.get(`${apiVersion} ${kind}`);
    if (name === undefined) return [`${apiVersion} ${kind}: there is no such kind`];
    const fits = ajv.getSchema(`kubernetes#/definitions/${name}`);
    if (fits(manifest)) return [];
    const who = `${kind} ${manifest.metadata?.name}`;
    return fits.errors.map(({ instancePath, message, params }) =>
      [who, instancePath, message, JSON.stringify(params)].join(" "),
    );
  };
}

/** Objects with fields know no others. */
function strictly(definition) {
  // A number or a text: OpenAPI 2 can not say so and calls it a text.
  if (definition.format === "int-or-string") return { type: ["integer", "string"] };
  if (definition.properties === undefined) return definition;
  return { ...definition, additionalProperties: definition.additionalProperties ?? false };
}

function mapped(object, map) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}
