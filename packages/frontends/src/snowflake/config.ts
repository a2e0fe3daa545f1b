/** Config of the Snowflake frontend: the fields every listener has, and what sessions and results may take. */
import { listenerShape } from "@gateway/contract/config/listener.ts";
import { z } from "zod";

const defaultPort = 8443;
const defaultMessageBytes = 64 * 1024 * 1024;

export const snowflakeConfig = z
  .strictObject({
    ...listenerShape(defaultPort, defaultMessageBytes),
    maxSessions: z.int().min(1).max(1_000_000).default(10_000).meta({
      title: "Sessions",
      description: "Most sessions that live at once; further logins are refused.",
    }),
    sessionIdleSecs: z.int().min(60).max(86_400).default(14_400).meta({
      title: "Idle session",
      description: "A session that was not used for this long, also not by a heartbeat, is gone.",
      "x-unit": "seconds",
    }),
    maxResultBytes: z
      .int()
      .min(1 << 20)
      .max(2 ** 40)
      .default(1 << 30)
      .meta({
        title: "Size of a result",
        description:
          "Most bytes of rows that one statement may leave for its client to download. They lie in a file without a name, encrypted, in the system's folder for temporary files.",
        "x-unit": "bytes",
      }),
    maxKeptBytes: z
      .int()
      .min(1 << 20)
      .max(2 ** 44)
      .default(8 * 2 ** 30)
      .meta({
        title: "Size of all results",
        description:
          "Most bytes of rows that wait for their downloads, of all users; one user gets half of it.",
        "x-unit": "bytes",
      }),
    resultKeepSecs: z.int().min(10).max(86_400).default(600).meta({
      title: "Kept results",
      description: "How long a result can be downloaded after its client last asked for any of it.",
      "x-unit": "seconds",
    }),
  })
  .meta({ title: "Snowflake", description: "Snowflake's HTTP protocol, as its drivers speak it." });

export type SnowflakeConfig = z.output<typeof snowflakeConfig>;
