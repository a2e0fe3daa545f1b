/**
 * The database is Neon, or any PostgreSQL, and is made elsewhere; its URL is a secret. What is made
 * here is the deploy step that brings it up to the program's version.
 *
 * A function of its own migrates, once per set of migrations, and the deployment waits for it:
 * `migrated` is an input of the control plane, which therefore never starts before. When it fails,
 * the deployment ends there and the old control plane goes on. Migrations expand before they
 * contract, so the old one runs on the new schema.
 */
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { functionBundle } from "./bundle.ts";
import { logRetention } from "./gatewayConfig.ts";
import { databaseUrl } from "./secret.ts";

const folder = "migrations";

/** What the migration said when it was done, or that nothing is deployed. */
export const migrated: $util.Output<string> = $dev ? $output("not deployed") : migrate();

function migrate(): $util.Output<string> {
  const migration = new sst.aws.Function("Migration", {
    description: "Brings the control plane's database up, once per deployment",
    ...functionBundle("migration"),
    link: [databaseUrl()],
    // An index over a large history is built for minutes.
    timeout: "15 minutes",
    memory: "512 MB",
    // Two would wait for each other's lock until one gives up.
    concurrency: { reserved: 1 },
    logging: { retention: logRetention },
  });
  const done = new aws.lambda.Invocation("Migrated", {
    functionName: migration.name,
    input: JSON.stringify({ migrations: fingerprint() }),
    triggers: { migrations: fingerprint() },
  });
  return done.result;
}

/** Changes with every file of the folder. */
function fingerprint(): string {
  const path = join($cli.paths.root, folder);
  const hash = createHash("sha256");
  for (const name of readdirSync(path, { recursive: true, encoding: "utf8" }).toSorted()) {
    if (!name.endsWith(".sql")) continue;
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(path, name)))
      .update("\0");
  }
  return hash.digest("hex");
}
