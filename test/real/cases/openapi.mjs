/**
 * schemathesis, which nobody here wrote, against the admin API: it reads /openapi.json and makes
 * requests that fit it and requests that do not. No answer may be a 5xx, or one that the document
 * does not have.
 *
 * `gateway.admin` is `{url, user, password}`: the admin port and one of its admins.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command } from "../command.mjs";
import { schemathesis } from "./openapiTool.mjs";

const checks = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_schema_conformance",
];

/** Wrong passwords are slowed down, so routes that take one get few. */
const slowPaths = ["/admin/login", "/admin/setup"];

/** It learns names from answers: it would delete the user that it comes as. The unit tests fuzz this one. */
const ownPath = "/admin/users/{name}";

/** A stream of events goes on until its reader leaves, and this one waits for an answer's end. */
const endlessPath = "/admin/events";

export const openapiCases = {
  tool: "schemathesis",
  behind: "none",
  cases: {
    "any request to the admin API gets a documented answer and no 5xx": async (gateway) => {
      const { items } = await ask(gateway, "GET", "/admin/revisions?limit=1");
      try {
        const excluded = [...slowPaths, ownPath, endlessPath].flatMap((path) => [
          "--exclude-path",
          path,
        ]);
        await run(gateway, ["--max-examples", "10", ...excluded], 300);
      } finally {
        // It may have imported an empty file, and an export has no secrets to bring back.
        for (const { epoch, sequence } of items) {
          await ask(gateway, "POST", `/admin/revisions/${epoch}.${sequence}/rollback`);
        }
      }
    },
    "any login and set-up gets a documented answer and no 5xx": async (gateway) => {
      const included = slowPaths.flatMap((path) => ["--include-path", path]);
      await run(gateway, ["--max-examples", "2", "--phases", "fuzzing", ...included], 120);
    },
  },
};

async function run({ admin }, more, seconds) {
  // It would keep what it found in the folder it is called from.
  const folder = await mkdtemp(join(tmpdir(), "gateway-openapi-"));
  const env = { HYPOTHESIS_STORAGE_DIRECTORY: folder };
  const options = {
    url: admin.url,
    auth: `${admin.user}:${admin.password}`,
    checks: checks.join(","),
    phases: "examples,coverage,fuzzing",
    "request-timeout": "20",
    "generation-database": "none",
    "suppress-health-check": "all",
    "max-failures": "5",
    warnings: "off",
  };
  const given = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const args = ["run", `${admin.url}/openapi.json`, ...given, ...more];
  try {
    const { code, stdout, stderr } = await command(schemathesis, args, {
      env,
      seconds,
      cwd: folder,
    });
    if (code === 0) return;
    const end = code === null ? `not done after ${seconds} s` : `exit code ${code}`;
    throw new Error(`${end}\n${`${stdout}\n${stderr}`.slice(-6_000)}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function ask({ admin }, method, path) {
  const login = Buffer.from(`${admin.user}:${admin.password}`).toString("base64");
  const headers = { authorization: `Basic ${login}` };
  const response = await fetch(`${admin.url}${path}`, { method, headers });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
  return response.json();
}
