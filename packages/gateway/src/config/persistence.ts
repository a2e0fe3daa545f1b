/** Where the configuration, the history and the people of the admin API live: `gateway.persistence`. */
import { secretSchema } from "@gateway/contract/config/secret.ts";
import { z } from "zod";

/** The key is derived from this text, so nobody may be able to guess it. */
const encryptionKeyCharsMin = 16;

const encryptionKey = z
  .union([
    secretSchema.refine(
      (value) => typeof value !== "string" || value.length >= encryptionKeyCharsMin,
      `must have at least ${encryptionKeyCharsMin} characters`,
    ),
    z.array(secretSchema).min(1).max(8),
  ])
  .meta({
    title: "Encryption key",
    description:
      "Seals secrets in the database: the current key, or a list of it and previous ones. Make one with `openssl rand -base64 32`.",
    "x-secret": true,
  });

const autoMigrate = z.boolean().default(true).meta({
  title: "Migrate at start",
  description:
    "Brings the database up at start. When false, `gateway migrate` has to be run first.",
});

const url = secretSchema.meta({
  title: "Database URL",
  description: "postgresql://user:password@host:port/database, with sslmode and the like.",
  "x-secret": true,
});

const connectionsMax = z.int().min(2).max(1_000).default(10).meta({
  title: "Connections",
  description: "Most connections of this process to the database.",
  "x-unit": "connections",
});

const pglite = z
  .strictObject({
    type: z.literal("pglite"),
    path: z.string().min(1).default("./.gateway/db").meta({
      title: "Data folder",
      description: "Held by one process at a time. Made when it does not exist.",
    }),
    autoMigrate,
    encryptionKey: encryptionKey.optional(),
  })
  .meta({
    title: "Embedded PostgreSQL",
    description:
      "PGlite in a thread of its own. An encryption key is made and kept beside the data folder when none is given.",
  });

const postgres = z
  .strictObject({ type: z.literal("postgres"), url, autoMigrate, encryptionKey, connectionsMax })
  .meta({ title: "PostgreSQL", description: "A PostgreSQL server, 14 or later." });

const neon = z
  .strictObject({ type: z.literal("neon"), url, autoMigrate, encryptionKey, connectionsMax })
  .meta({
    title: "Neon",
    description: "Neon over HTTP and WebSockets; made for functions.",
  });

const inMemory = z.strictObject({ type: z.literal("inMemory") }).meta({
  title: "In memory",
  description:
    "Nothing outlives the process: the file is the configuration, and what the admin API changes is gone with a restart.",
});

export const persistenceSchema = z
  .discriminatedUnion("type", [pglite, postgres, neon, inMemory])
  .prefault({ type: "pglite" })
  .meta({ title: "Persistence", description: "Where configuration, history and users live." });

export type PersistenceConfig = z.output<typeof persistenceSchema>;
