/** The Trino CLI from Maven. */
import { command, expectCode, expectMatch, expectText } from "../command.mjs";
import { joinSql, sameJoin } from "../gateway.mjs";
import { trinoCli } from "../install.mjs";

const trino = (gateway, sql) => {
  const server = `http://127.0.0.1:${gateway.ports.trino}`;
  const args = [
    "-jar",
    trinoCli,
    "--server",
    server,
    "--user",
    "alice",
    "--output-format",
    "CSV_UNQUOTED",
  ];
  return command("java", [...args, "--execute", sql]);
};

export const trinoCases = {
  tool: "trino",
  cases: {
    "a join over the sample": async (gateway) => {
      sameJoin(expectCode(await trino(gateway, joinSql)).stdout);
    },
    "types arrive exactly": async (gateway) => {
      const sql =
        "select cast(1.10 as decimal(38,2)), timestamp '2024-02-29 23:59:59.123456', [1,2], true, null";
      expectText(
        expectCode(await trino(gateway, sql)).stdout,
        "1.10,2024-02-29 23:59:59.123456,[1, 2],true,",
      );
    },
    "an error has Trino's own form": async (gateway) => {
      const result = await trino(gateway, "select * from no_such_table");
      expectMatch(
        result.stderr + result.stdout,
        /Query \d{8}_\d{6}_\d{5}_\w+ failed: .*no_such_table/,
      );
    },
    "a session keeps its zone, place and prepared statements": async (gateway) => {
      const sql =
        "use memory.main; set time zone 'Asia/Tokyo'; prepare p from select timestamptz '2024-02-29 12:00:00+00', ?; execute p using 7";
      expectText(
        expectCode(await trino(gateway, sql)).stdout,
        "2024-02-29 21:00:00.000000 Asia/Tokyo,7",
      );
    },
    "show create table and describe name Trino's types": async (gateway) => {
      expectMatch(
        expectCode(await trino(gateway, "show create table orders")).stdout,
        /order_id integer,\s+customer_id integer,\s+ordered_at timestamp\(6\),/,
      );
      expectMatch(
        expectCode(await trino(gateway, "describe orders")).stdout,
        /^shipping,decimal\(6,2\),,$/m,
      );
    },
    "show tables lists the sample": async (gateway) => {
      expectMatch(expectCode(await trino(gateway, "show tables")).stdout, /^customers$/m);
    },
  },
};
