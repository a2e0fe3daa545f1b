/** Config of the ClickHouse frontend: the fields every listener has, with the port of ClickHouse's HTTP interface. */
import { listenerShape } from "@gateway/contract/config/listener.ts";
import { z } from "zod";

const defaultPort = 8123;
const defaultMessageBytes = 8 * 1024 * 1024;

export const clickhouseConfig = z
  .strictObject(listenerShape(defaultPort, defaultMessageBytes))
  .meta({ title: "ClickHouse", description: "ClickHouse's HTTP interface." });

export type ClickhouseConfig = z.output<typeof clickhouseConfig>;
