/**
 * The command line. Parses arguments, picks the command, ends the process with its exit code. Commands but `start` are loaded
 * when they are asked for: a gateway that starts would read them all.
 */
import { parseArgs } from "node:util";
import type { HashForm } from "../command/hashPassword.ts";
import type { QuickstartOptions } from "../command/quickstart.ts";
import { startCommand } from "../command/start/start.ts";
import { exitCode, usage, type Terminal } from "../command/terminal.ts";
import { exitNow } from "../host/process/exit.ts";
import { boundMemory } from "../host/memory/heap.ts";

const terminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  stdin: process.stdin,
  environment: process.env,
  bundle: new URL(".", import.meta.url),
};

const configOption = {
  config: { type: "string", short: "c", default: "gateway.yaml" },
} as const;

boundMemory();
process.exitCode = await main(process.argv.slice(2));
// Something was cut off, and it may still compute in one of the threads.
if (process.exitCode === exitCode.drainOverrun) await exitNow(exitCode.drainOverrun);
// Listeners and threads are closed by now; whatever a library left open must not keep a stopped gateway alive.
process.exit();

async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  try {
    return await run(command, rest);
  } catch (error) {
    if (error instanceof TypeError && "code" in error && isArgumentError(error.code)) {
      terminal.err(`${error.message.split("\n", 1)[0]}\n${usage}`);
      return 1;
    }
    throw error;
  }
}

async function run(command: string | undefined, args: readonly string[]): Promise<number> {
  switch (command) {
    case "start":
      return startCommand(configFile(args), terminal);
    case "validate": {
      const { validateCommand } = await import("../command/validate.ts");
      return validateCommand(validatedFiles(args), terminal);
    }
    case "migrate": {
      const { migrateCommand } = await import("../command/migrate.ts");
      return migrateCommand(configFile(args), terminal);
    }
    case "config":
      return config(args);
    case "explain":
      return explain(args);
    case "admin":
      return admin(args);
    case "import":
      return imported(args);
    case "drill": {
      const { drillCommand } = await import("../drill/drillCommand.ts");
      return drillCommand(args, terminal);
    }
    case "hash-password": {
      const { hashPasswordCommand } = await import("../command/hashPassword.ts");
      return hashPasswordCommand(terminal, hashForm(args));
    }
    case "quickstart": {
      const { quickstartCommand } = await import("../command/quickstart.ts");
      return quickstartCommand(quickstartOptions(args), terminal);
    }
    case "fleet": {
      noArguments(args);
      const { fleetCommand } = await import("../command/fleet.ts");
      return fleetCommand(terminal);
    }
    case "docs": {
      const { docsCommand } = await import("../command/docs.ts");
      return docsCommand(args, terminal);
    }
    case "help":
    case "--help":
    case "-h":
      terminal.out(usage);
      return 0;
    case undefined:
      return misused();
    default:
      return unknown(command);
  }
}

async function config([action, ...args]: readonly string[]): Promise<number> {
  const { configActions, configCommand } = await import("../command/configFiles.ts");
  const known = configActions.find((one) => one === action);
  if (known === undefined) return action === undefined ? misused() : unknown(`config ${action}`);
  return configCommand(known, configFile(args), terminal);
}

/** The file of every command, and any number more. */
function validatedFiles(args: readonly string[]): readonly string[] {
  const options = { config: { type: "string", multiple: true } } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    options,
    strict: true,
    allowPositionals: true,
  });
  const files = [...(values.config ?? []), ...positionals];
  return files.length > 0 ? files : [configFile([])];
}

async function explain(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: configOption,
    strict: true,
    allowPositionals: true,
  });
  const [queryId, ...more] = positionals;
  if (queryId === undefined || more.length > 0) return misused();
  const { explainCommand } = await import("../command/explain.ts");
  return explainCommand(queryId, values.config, terminal);
}

async function imported([from, ...args]: readonly string[]): Promise<number> {
  if (from !== "pgbouncer") return from === undefined ? misused() : unknown(`import ${from}`);
  const { positionals } = parseArgs({
    args: [...args],
    options: {},
    strict: true,
    allowPositionals: true,
  });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) return misused();
  const { importPgbouncerCommand } = await import("../imports/importCommand.ts");
  return importPgbouncerCommand(file, terminal);
}

async function admin([action, ...args]: readonly string[]): Promise<number> {
  if (action === undefined) return misused();
  if (action !== "reset-password") return unknown(`admin ${action}`);
  const options = { ...configOption, user: { type: "string", default: "admin" } } as const;
  const { values } = parseArgs({ args: [...args], options, strict: true });
  const { resetPasswordCommand } = await import("../command/resetPassword.ts");
  return resetPasswordCommand({ user: values.user, file: values.config }, terminal);
}

async function misused(): Promise<number> {
  terminal.err(usage);
  return 1;
}

function configFile(args: readonly string[]): string {
  return parseArgs({ args: [...args], options: configOption, strict: true }).values.config;
}

function hashForm(args: readonly string[]): HashForm {
  const options = { scram: { type: "boolean", default: false } } as const;
  return parseArgs({ args: [...args], options, strict: true }).values.scram ? "scram" : "bcrypt";
}

function quickstartOptions(args: readonly string[]): QuickstartOptions {
  const options = {
    data: { type: "string" },
    "free-ports": { type: "boolean", default: false },
  } as const;
  const { values } = parseArgs({ args: [...args], options, strict: true });
  return { data: values.data, freePorts: values["free-ports"] };
}

function noArguments(args: readonly string[]): void {
  parseArgs({ args: [...args], options: {}, strict: true });
}

function isArgumentError(code: unknown): boolean {
  return typeof code === "string" && code.startsWith("ERR_PARSE_ARGS");
}

async function unknown(command: string): Promise<number> {
  terminal.err(`there is no command "${command}"\n`);
  return await misused();
}
