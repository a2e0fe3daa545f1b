/** Config of the MySQL frontend: the fields every listener has, with MySQL's port and packet size. */
import { ownWordsShape } from "@gateway/contract/config/listener.ts";
import { z } from "zod";

const defaultPort = 3306;
const defaultMessageBytes = 64 * 1024 * 1024;

export const mysqlConfig = z
  .strictObject(ownWordsShape(defaultPort, defaultMessageBytes, "mysql"))
  .meta({ title: "MySQL", description: "The MySQL wire protocol, version 10." });

export type MysqlConfig = z.output<typeof mysqlConfig>;
