/**
 * Secrets, set once per stage with `npx sst secret set <name> <value>`.
 *
 * Functions get them linked, sealed inside their code. Containers get them from the parameter store.
 * A list has the current value first and, while it is changed, the previous one after a comma.
 */
import { variables } from "./gatewayConfig.ts";

/** `postgresql://…`: Neon for functions, any PostgreSQL for a container. */
export const databaseUrl = new sst.Secret("DatabaseUrl");
/** List of what seals secrets in the database. */
export const encryptionKeys = new sst.Secret("EncryptionKeys");
/** List of what workers present, each at least 32 characters; ours present the first. */
export const fleetSecrets = new sst.Secret("FleetSecrets");
/** PEM with the chain, and its key: what clients of the workers see. */
export const certificate = new sst.Secret("Certificate");
export const privateKey = new sst.Secret("PrivateKey");

const itemsOf = (list: string) => list.split(",").map((item) => item.trim());
const current = (list: string) => itemsOf(list)[0] ?? "";
/** The current one again where there is no previous one: a parameter can not be empty. */
const previous = (list: string) => itemsOf(list)[1] ?? current(list);

/** Which lists hold a previous value. */
export const rotating = $util
  .all([encryptionKeys.value, fleetSecrets.value])
  .apply(([keys, secrets]) => ({
    encryptionKey: itemsOf(keys).length > 1,
    fleetSecret: itemsOf(secrets).length > 1,
  }));

/** References for a control plane in a container. */
export function controlPlaneSecrets() {
  return {
    [variables.databaseUrl]: parameter("DatabaseUrlParameter", databaseUrl.value),
    [variables.encryptionKey]: parameter(
      "EncryptionKeyParameter",
      encryptionKeys.value.apply(current),
    ),
    [variables.encryptionKeyPrevious]: parameter(
      "EncryptionKeyPreviousParameter",
      encryptionKeys.value.apply(previous),
    ),
    [variables.fleetSecret]: parameter("FleetSecretParameter", fleetSecrets.value.apply(current)),
    [variables.fleetSecretPrevious]: parameter(
      "FleetSecretPreviousParameter",
      fleetSecrets.value.apply(previous),
    ),
  };
}

/** References for a worker, which never sees the database or its keys. */
export function workerSecrets() {
  return {
    [variables.fleetSecret]: parameter("WorkerSecretParameter", fleetSecrets.value.apply(current)),
    [variables.certificate]: parameter("CertificateParameter", certificate.value),
    [variables.privateKey]: parameter("PrivateKeyParameter", privateKey.value),
  };
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
