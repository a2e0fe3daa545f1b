/**
 * Secrets, set once per stage with `npx sst secret set <name> <value>`.
 *
 * Functions get them linked, sealed inside their code. Containers get them from the parameter store.
 * A list has the current value first and, while it is changed, the previous one after a comma.
 */
import { itemsOf, variables } from "./gatewayConfig.ts";
import { stage } from "./stage.ts";

const made = new Map<string, sst.Secret>();

/** Made when it is asked for first: SST refuses a stage that makes one without a value. */
function secretOf(name: string): sst.Secret {
  const found = made.get(name) ?? new sst.Secret(name);
  made.set(name, found);
  return found;
}

/** `postgresql://…`: Neon for functions, any PostgreSQL for a container. */
export const databaseUrl = () => secretOf("DatabaseUrl");
/** List of what seals secrets in the database. */
export const encryptionKeys = () => secretOf("EncryptionKeys");
/** List of what workers present, each at least 32 characters; ours present the first. */
export const fleetSecrets = () => secretOf("FleetSecrets");

const current = (list: string) => itemsOf(list)[0] ?? "";
/** The current one again where there is no previous one: a parameter can not be empty. */
const previous = (list: string) => itemsOf(list)[1] ?? current(list);

/** Which lists hold a previous value. */
export function rotating() {
  return $util.all([encryptionKeys().value, fleetSecrets().value]).apply(([keys, secrets]) => ({
    encryptionKey: itemsOf(keys).length > 1,
    fleetSecret: itemsOf(secrets).length > 1,
  }));
}

/** References for a control plane in a container, which asks the engines and so has their secrets too. */
export function controlPlaneSecrets() {
  return {
    ...secretsOfObjects(),
    [variables.databaseUrl]: parameter("DatabaseUrlParameter", databaseUrl().value),
    [variables.encryptionKey]: parameter(
      "EncryptionKeyParameter",
      encryptionKeys().value.apply(current),
    ),
    [variables.encryptionKeyPrevious]: parameter(
      "EncryptionKeyPreviousParameter",
      encryptionKeys().value.apply(previous),
    ),
    [variables.fleetSecret]: parameter("FleetSecretParameter", fleetSecrets().value.apply(current)),
    [variables.fleetSecretPrevious]: parameter(
      "FleetSecretPreviousParameter",
      fleetSecrets().value.apply(previous),
    ),
  };
}

/**
 * References for a worker, which never sees the database or its keys. The certificate is PEM with the
 * chain: what clients of the workers see.
 */
export function workerSecrets() {
  return {
    ...secretsOfObjects(),
    [variables.fleetSecret]: parameter(
      "WorkerSecretParameter",
      fleetSecrets().value.apply(current),
    ),
    [variables.certificate]: parameter("CertificateParameter", secretOf("Certificate").value),
    [variables.privateKey]: parameter("PrivateKeyParameter", secretOf("PrivateKey").value),
  };
}

let ofObjects: Readonly<Record<string, $util.Output<string>>> | undefined;

/** What clusters and logins refer to, by the variable that they name. */
function secretsOfObjects() {
  ofObjects ??= Object.fromEntries(
    Object.entries(stage.secrets).map(([name, variable]) => [
      variable,
      parameter(`${name}Parameter`, secretOf(name).value),
    ]),
  );
  return ofObjects;
}

function parameter(name: string, value: $util.Input<string>) {
  // A certificate with its chain is longer than the standard tier takes.
  const { arn } = new aws.ssm.Parameter(name, {
    type: "SecureString",
    tier: "Intelligent-Tiering",
    value,
  });
  return arn;
}
