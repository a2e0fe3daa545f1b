/** What a connection begins with: the offer in the greeting, and the session of a login. */
import { TLSSocket } from "node:tls";
import type { Login } from "@gateway/core/port/authenticator.ts";
import type { Door } from "@gateway/core/port/door.ts";
import type { Host } from "@gateway/core/port/host.ts";
import type { Session } from "@gateway/core/query/query.ts";
import { allSpeakMysql, type ReachedEngine } from "@gateway/core/query/reached.ts";
import { nonceBytes, type Greeting } from "@gateway/wire/mysql/handshake.ts";
import {
  capability,
  collationId,
  mariadbCapability,
  serverStatus,
} from "@gateway/wire/mysql/protocol.ts";
import type { Connection } from "../../listener/connection.ts";
import { compressionFlags } from "../compression.ts";
import { forwardedDialect } from "../read/forward.ts";
import type { Claim } from "../machine.ts";
import { authPlugin } from "./authentication.ts";
import { comparingAt } from "../session/charset.ts";
import { parseTags } from "../session/tags.ts";
import { serverVersion } from "../commands/server.ts";
import type { Cipher } from "../commands/show.ts";

/** The key in the config. */
export const frontendKind = "mysqlWire";

/** Connection attribute that holds tags. */
const tagsAttribute = "gateway_tags";

/** What is offered to every client; SSL is added where the listener has a certificate. */
const offered =
  capability.longPassword |
  capability.foundRows |
  capability.longFlag |
  capability.connectWithDb |
  capability.localFiles |
  capability.odbc |
  capability.ignoreSpace |
  capability.protocol41 |
  capability.interactive |
  capability.ignoreSigpipe |
  capability.transactions |
  capability.reserved |
  capability.secureConnection |
  capability.multiStatements |
  capability.multiResults |
  capability.psMultiResults |
  capability.pluginAuth |
  capability.connectAttrs |
  capability.pluginAuthLenencData |
  capability.sessionTrack |
  capability.deprecateEof |
  compressionFlags;

/** The greeting of a connection, with a challenge of its own. */
export function greetingOf(
  connection: Connection,
  connectionId: number,
  { host, door }: { readonly host: Host; readonly door: Pick<Door, "engines"> },
): Greeting {
  const mariadbCapabilities = mariadbCapabilitiesOf(door.engines());
  // Without the flag of MySQL's a client looks for MariaDB's.
  const without = mariadbCapabilities === 0 ? 0 : capability.longPassword;
  const more = takeAttributes(door.engines()) ? capability.queryAttributes : 0;
  return {
    serverVersion,
    connectionId,
    // Printable, because some clients read the challenge as text that ends with a NUL.
    nonce: host.randomBytes(nonceBytes).map((byte) => (byte % 94) + 33),
    capabilities: (offered & ~without) | more | (connection.canUpgrade ? capability.ssl : 0),
    mariadbCapabilities,
    collation: collationId.utf8mb4,
    status: serverStatus.autocommit,
    plugin: authPlugin.sha2,
  };
}

/** What of MariaDB's own is passed on. What is not (progress, batches, definitions left out) is offered to nobody. */
const relayedOfMariadb = mariadbCapability.extendedMetadata;

/**
 * MariaDB's flags that every engine has, as far as it is known by now; none before anything else than MariaDBs. The
 * version stays MySQL's: drivers that read a MariaDB's write `SET STATEMENT` for it with values that are not taken here.
 */
function mariadbCapabilitiesOf(engines: readonly ReachedEngine[]): number {
  if (!allSpeakMysql(engines)) return 0;
  return engines.reduce(
    (common, { statuses }) => common & Number(statuses?.get("mariadb_capabilities") ?? 0),
    relayedOfMariadb,
  );
}

/** Whether every engine is a server that takes query attributes, as far as it is known by now: elsewhere they would be lost. */
function takeAttributes(engines: readonly ReachedEngine[]): boolean {
  if (!allSpeakMysql(engines)) return false;
  return engines.every(({ statuses }) => statuses?.get("query_attributes") === "ON");
}

const none: ReadonlyMap<string, string> = new Map();

/** The gateway's session of a client that proved its claim. */
export function sessionOf(claim: Claim, login: Login, clientAddress: string): Session {
  return {
    frontend: frontendKind,
    identity: login.identity,
    credential: login.credential,
    clientAddress,
    dialect: forwardedDialect,
    grammar: "mysql",
    catalog: undefined,
    schema: claim.database,
    settings: comparingAt(claim.collation),
    tags: parseTags(claim.attributes.get(tagsAttribute) ?? ""),
    headers: none,
    pin: undefined,
  };
}

/** Names of the cipher and the protocol; empty without TLS. */
export function cipherOf({ socket }: Connection): Cipher {
  if (!(socket instanceof TLSSocket)) return { name: "", protocol: "", resumed: false };
  return {
    name: socket.getCipher().name,
    protocol: socket.getProtocol() ?? "",
    resumed: socket.isSessionReused(),
  };
}
