/** What every listener has in common. Each frontend's `config.ts` spreads `listenerShape(port)` into its own strict object. */
import { z } from "zod";

export const tlsSchema = z
  .strictObject({
    certFile: z
      .string()
      .min(1)
      .meta({ title: "Certificate", description: "PEM file with the certificate and its chain." }),
    keyFile: z
      .string()
      .min(1)
      .meta({ title: "Private key", description: "PEM file with the private key." }),
    clientCaFile: z.string().min(1).optional().meta({
      title: "Client CA",
      description: "PEM file; a client certificate must be signed by it.",
    }),
    clientCertUser: z.enum(["none", "cn", "san"]).optional().meta({
      title: "User of a client certificate",
      description:
        "Where a verified client certificate names its user: nowhere (none, the default), in its common name (cn), or in an alternative name (san: DNS, e-mail, URI). That user then needs no password, and must be known to the auth provider.",
    }),
    minVersion: z
      .enum(["1.2", "1.3"])
      .default("1.2")
      .meta({ title: "Lowest TLS version", description: "Older handshakes are refused." }),
  })
  .refine(
    ({ clientCertUser = "none", clientCaFile }) =>
      clientCertUser === "none" || clientCaFile !== undefined,
    {
      error: "needs clientCaFile: a certificate that nobody verified names nobody",
      path: ["clientCertUser"],
    },
  )
  .meta({
    title: "TLS",
    description: "Certificate of the listener; reloaded without a restart when a file changes.",
  });

export type TlsConfig = z.output<typeof tlsSchema>;

/** The two limits of a text. */
export interface StatementLimits {
  readonly maxStatementBytes: number;
  readonly maxStatementTokens: number;
}

/** Of texts that the gateway or an engine in it parses, plans or writes anew. */
export const statementDefaults: StatementLimits = {
  maxStatementBytes: 1 << 20,
  maxStatementTokens: 500_000,
};

/** Of texts that go on to a server in their client's own words: as many tokens as there is room for. */
export const ownStatementDefaults: StatementLimits = {
  maxStatementBytes: 16 << 20,
  maxStatementTokens: 100_000_000,
};

const bytes = z
  .int()
  .min(1024)
  .max(1 << 30);
const tokens = z.int().min(1024).max(100_000_000);

/** Fields of every frontend, with its default port and its default limit of a message. */
export function listenerShape(port: number, maxMessageBytes: number) {
  return { ...addressShape(port), ...limitShape(maxMessageBytes), ...trustShape } as const;
}

function addressShape(port: number) {
  return {
    enabled: z
      .boolean()
      .default(true)
      .meta({ title: "Enabled", description: "Whether the listener is opened." }),
    host: z
      .string()
      .min(1)
      .default("0.0.0.0")
      .meta({ title: "Address", description: "Address to bind." }),
    port: z
      .int()
      .min(0)
      .max(65535)
      .default(port)
      .meta({ title: "Port", description: "TCP port; 0 picks a free one." }),
    tls: tlsSchema.optional(),
    externalUrl: z.url().optional().meta({
      title: "External URL",
      description: "How clients reach this listener from outside; used in links of HTTP protocols.",
    }),
  } as const;
}

function limitShape(maxMessageBytes: number) {
  return {
    maxConnections: z.int().min(1).default(10_000).meta({
      title: "Connections",
      description: "Most connections open at once.",
      "x-unit": "connections",
    }),
    maxConnectionsPerAddress: z.int().min(1).default(2_000).meta({
      title: "Connections per address",
      description: "Most connections open at once from one client address.",
      "x-unit": "connections",
    }),
    maxMessageBytes: z
      .int()
      .min(1024)
      .max(1 << 30)
      .default(maxMessageBytes)
      .meta({
        title: "Message size",
        description: "A longer message is refused before memory is taken.",
        "x-unit": "bytes",
      }),
    maxStatementBytes: bytes.default(statementDefaults.maxStatementBytes).meta({
      title: "Statement size",
      description:
        "Longest text of a request or a prepared statement, with all its statements; a longer one is refused unread. Data of COPY and LOAD and values of parameters are no text. Raising it lets one client hold up others while its text is read, here and in the engine.",
      "x-unit": "bytes",
    }),
    maxStatementTokens: tokens.default(statementDefaults.maxStatementTokens).meta({
      title: "Statement tokens",
      description:
        "Most words, names, values and signs of such a text. A text of many tokens takes engines more memory and time to plan than its length says; a bulk insert of a megabyte has about 240,000.",
      "x-unit": "tokens",
    }),
  } as const;
}

/**
 * The same for a protocol in which a text may go on to a server in its client's own words. Its limits depend on that,
 * unless the config says one for all texts.
 */
export function ownWordsShape(port: number, maxMessageBytes: number, engine: string) {
  return {
    ...listenerShape(port, maxMessageBytes),
    maxStatementBytes: bytes.optional().meta({
      title: "Statement size",
      description: `Longest text of a request or a prepared statement, with all its statements; a longer one is refused unread. Without a value: 16 MiB where it goes on in its client's own words, which is where every cluster that the session may reach is of engine ${engine} and no guard, policy, translation, script or router reads texts; elsewhere 1 MiB, because what parses, plans or writes a text anew, here or in an engine in the gateway, takes a hundred times its memory. A value counts for all texts. Data of COPY and LOAD and values of parameters are no text. Long texts are read in turns with what others send, and wait where 128 MiB of them are in the process, or half of that of their user. A text of 64 MiB holds up others for up to a third of a second.`,
      "x-unit": "bytes",
    }),
    maxStatementTokens: tokens.optional().meta({
      title: "Statement tokens",
      description: `Most words, names, values and signs of such a text. Without a value: no limit but the text's length where it goes on in its client's own words, elsewhere 500,000. A text of many tokens takes engines more memory and time to plan than its length says; a bulk insert of a megabyte has about 240,000.`,
      "x-unit": "tokens",
    }),
  } as const;
}

/** What is believed of a connection although the gateway can not verify it. */
const trustShape = {
  allowedHosts: z.array(z.string().min(1)).default([]).meta({
    title: "Allowed hosts",
    description: "Further values of the Host header that HTTP listeners accept.",
  }),
  allowCleartext: z.boolean().default(false).meta({
    title: "Allow clear text",
    description:
      "Accept passwords and tokens without TLS although the listener is not on loopback.",
  }),
  proxyProtocol: z.boolean().default(false).meta({
    title: "PROXY protocol",
    description:
      "Read a PROXY v1 or v2 header before each connection; connections without one are closed.",
  }),
  trustedProxies: z.array(z.string().min(1)).default([]).meta({
    title: "Trusted proxies",
    description:
      "Addresses or CIDR ranges whose forwarded-address headers are believed by HTTP listeners.",
  }),
} as const;

const anyListener = z.strictObject(listenerShape(0, 1 << 23));
/** The common part of every frontend's config, as parsed. */
export type ListenerConfig = z.output<typeof anyListener> & {
  /** Limits of texts that go on in their client's own words, where the protocol knows such. */
  readonly ownWords?: StatementLimits | undefined;
};
