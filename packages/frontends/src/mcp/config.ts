/** Config of the MCP frontend: the fields every listener has, and what one answer to an agent may hold. */
import { listenerShape } from "@gateway/contract/config/listener.ts";
import { z } from "zod";

const defaultPort = 8811;
const defaultMessageBytes = 4 * 1024 * 1024;

export const mcpConfig = z
  .strictObject({
    ...listenerShape(defaultPort, defaultMessageBytes),
    maxAnswerRows: z.int().min(1).max(1_000_000).default(10_000).meta({
      title: "Rows of an answer",
      description:
        "Most rows that one answer of a tool carries, whatever the agent asks for; a longer result is cut there and says so.",
      "x-unit": "rows",
    }),
    maxAnswerBytes: z
      .int()
      .min(1024)
      .max(64 << 20)
      .default(256 * 1024)
      .meta({
        title: "Size of an answer",
        description:
          "About how many bytes of rows one answer carries; a longer result is cut there and says so. A single value may take a quarter of it.",
        "x-unit": "bytes",
      }),
    maxWaitSecs: z.int().min(1).max(600).default(30).meta({
      title: "Wait of a call",
      description:
        "How long one call waits for its query at most. A query that takes longer goes on, and the agent asks again by its handle. Many clients give a call up after 60 s.",
      "x-unit": "seconds",
    }),
    idleQuerySecs: z.int().min(1).max(280).default(60).meta({
      title: "Idle query",
      description: "A query is ended when its agent has not asked for its rows for this long.",
      "x-unit": "seconds",
    }),
  })
  .meta({
    title: "MCP",
    description: "Model Context Protocol over Streamable HTTP, for agents: tools and resources.",
  });

export type McpConfig = z.output<typeof mcpConfig>;
