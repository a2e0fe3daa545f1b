import { frontendSuite } from "../frontend.suite.ts";
import type { SampleName } from "../rig/samples.ts";
import { snowflakeConfig } from "./config.ts";
import { listen } from "./listen.ts";
import { connectSdk } from "./rig/sdk.ts";

/** Each sample as snowflake-sdk reads it. */
const texts: Readonly<Record<SampleName, string>> = {
  boolean: "TRUE",
  int8: "-128",
  int16: "32767",
  int32: "-2147483648",
  int64: "9223372036854775807",
  int128: "-170141183460469231731687303715884105728",
  uint8: "255",
  uint16: "65535",
  uint32: "4294967295",
  uint64: "18446744073709551615",
  float32: "0.1",
  float64: "0.30000000000000004",
  decimal: "-1234567890.12",
  wideDecimal: "1234567890123456789012345678.9012345678",
  text: 'né "q" \\ \n😀',
  binary: "00FF5C41",
  date: "2024-02-29",
  time: "23:59:59",
  timestamp: "2024-02-29 12:34:56.123",
  timestampNs: "2024-02-29 12:34:56.123",
  instant: "2024-02-29 12:34:56.500 +0000",
  interval: "P1Y2M3DT4H5M6.789S",
  uuid: "0190163d-8694-739b-aea5-966c26f8ad91",
  json: '{"a":[1,null]}',
  list: '["a b",null,""]',
  struct: '{"n":1,"t":"x"}',
  map: '{"k":1}',
};

frontendSuite("snowflake over snowflake-sdk", connectSdk, {
  listen,
  config: (more) => snowflakeConfig.parse(more),
  texts,
  positions: true,
  skip: [
    {
      reason: "the driver asks again for five minutes before it says that nobody answers",
      tests: ["cuts off at the deadline of a drain what does not finish"],
    },
    {
      reason: "the driver trusts the system's certificates only; tls.test.ts does it by hand",
      tests: ["takes a password over TLS"],
    },
  ],
  lyingLength: Buffer.from(
    "POST /session/v1/login-request HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n",
  ),
});
