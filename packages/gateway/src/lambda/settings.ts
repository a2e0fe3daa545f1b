/**
 * What a function is told from outside: secrets that the deployment linked, or variables of the same
 * meaning where something else than SST deployed it. Read once, in entry/.
 *
 * A function has no config file; everything else it serves is in the database.
 */
import { Secret } from "@gateway/core/secret.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { z } from "zod";

const secret = z.string().transform((value) => new Secret(value));

/** Values with commas between, the current one first. */
function listOf(charsMin: number, countMax: number) {
  const item = z.string().min(charsMin).pipe(secret);
  return z
    .string()
    .transform((text) => text.split(",").map((part) => part.trim()))
    .pipe(z.tuple([item], item).refine(({ length }) => length <= countMax));
}

/** Values with commas between; none when absent. */
function wordsOf(change: (text: string) => string) {
  return z
    .string()
    .default("")
    .transform((text) =>
      change(text)
        .split(",")
        .map((word) => word.trim())
        .filter(Boolean),
    );
}

const databaseUrlSchema = z
  .string()
  .regex(/^postgres(?:ql)?:\/\//)
  .pipe(secret);

const settingsSchema = z.strictObject({
  databaseUrl: databaseUrlSchema,
  /** What seals secrets in the database. */
  encryptionKeys: listOf(16, 8),
  /** Absent: no worker API. */
  fleetSecrets: listOf(32, 2).optional(),
  /** Host names that requests may ask for; empty: the platform's own name is the only one that leads here. */
  allowedHosts: wordsOf((text) => text.toLowerCase()),
  /** Folders of workers in which file paths of objects may lie; empty: none. */
  fileFolders: wordsOf((text) => text).pipe(z.array(z.string().startsWith("/"))),
  /** Drivers that the workers have, when somebody says which. */
  adbcDrivers: z
    .string()
    .transform((text) =>
      text
        .split(",")
        .map((word) => word.trim())
        .filter(Boolean),
    )
    .optional(),
  logLevel: z.enum(["debug", "info", "warn", "error"]).default("info"),
  /** A stand-in for Neon, `host:port`, spoken to in clear text: for tests and development. */
  neonStandIn: z
    .string()
    .regex(/^(?:localhost|127\.0\.0\.1):\d{1,5}$/)
    .optional(),
});

export type FunctionSettings = z.output<typeof settingsSchema>;

/** Where each setting is looked for: a linked secret first, then a variable. */
const sources = {
  databaseUrl: { link: "DatabaseUrl", variable: "GATEWAY_DATABASE_URL" },
  encryptionKeys: { link: "EncryptionKeys", variable: "GATEWAY_ENCRYPTION_KEYS" },
  fleetSecrets: { link: "FleetSecrets", variable: "GATEWAY_FLEET_SECRETS" },
  allowedHosts: { link: undefined, variable: "GATEWAY_ALLOWED_HOSTS" },
  fileFolders: { link: undefined, variable: "GATEWAY_FILE_FOLDERS" },
  adbcDrivers: { link: undefined, variable: "GATEWAY_ADBC_DRIVERS" },
  logLevel: { link: undefined, variable: "GATEWAY_LOG_LEVEL" },
  neonStandIn: { link: undefined, variable: "GATEWAY_NEON_STAND_IN" },
} as const satisfies Record<keyof FunctionSettings, Source>;

interface Source {
  readonly link: string | undefined;
  readonly variable: string;
}

/** What the host of a function knows. */
export interface Surroundings {
  /** The linked resource of that name; undefined when there is none. */
  linked(name: string): unknown;
  variable(name: string): string | undefined;
}

/** The settings, or the name of every one that is missing or wrong. No value is repeated. */
export function readSettings(from: Surroundings): Result<FunctionSettings, readonly string[]> {
  const found = Object.entries(sources).flatMap(([setting, source]) => {
    const value = valueOf(source, from);
    return value === undefined || value === "" ? [] : [[setting, value] as const];
  });
  const parsed = settingsSchema.safeParse(Object.fromEntries(found));
  if (parsed.success) return ok(parsed.data);
  const wrong = new Set(parsed.error.issues.map(({ path }) => String(path[0])));
  return err([...wrong].map(nameOf));
}

/** The one setting of a function that serves nothing; or its name, when it is missing or wrong. */
export function readDatabaseUrl(from: Surroundings): Result<Secret, string> {
  const parsed = databaseUrlSchema.safeParse(valueOf(sources.databaseUrl, from));
  return parsed.success ? ok(parsed.data) : err(nameOf("databaseUrl"));
}

function valueOf({ link, variable }: Source, from: Surroundings): string | undefined {
  return (link && linkedValue(from.linked(link))) ?? from.variable(variable);
}

/** A secret of SST is an object with a value. */
function linkedValue(resource: unknown): string | undefined {
  const parsed = z.object({ value: z.string() }).safeParse(resource);
  return parsed.success ? parsed.data.value : undefined;
}

function nameOf(setting: string): string {
  const source = Object.entries(sources).find(([name]) => name === setting)?.[1];
  if (source === undefined) return setting;
  return source.link === undefined ? source.variable : `${source.link} (${source.variable})`;
}
