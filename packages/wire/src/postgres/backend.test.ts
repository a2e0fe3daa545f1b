import { describe, expect, it } from "vitest";
import { writeBackend } from "./backend.ts";
import { ByteWriter } from "./bytes.ts";
import type { BackendMessage } from "./message.ts";

describe("writeBackend", () => {
  it.each<[BackendMessage, string]>([
    [{ kind: "authenticationOk" }, "R 00000008 00000000"],
    [{ kind: "authenticationCleartext" }, "R 00000008 00000003"],
    [
      { kind: "authenticationSasl", mechanisms: ["SCRAM-SHA-256"] },
      "R 00000017 0000000a 534352414d2d5348412d32353600 00",
    ],
    [{ kind: "authenticationSaslContinue", body: Uint8Array.of(1, 2) }, "R 0000000a 0000000b 0102"],
    [{ kind: "authenticationSaslFinal", body: Uint8Array.of(3) }, "R 00000009 0000000c 03"],
    [
      { kind: "backendKey", process: 4711, secret: Uint8Array.of(1, 2, 3, 4) },
      "K 0000000c 00001267 01020304",
    ],
    [
      { kind: "negotiateVersion", version: 0x00030002, unknownOptions: ["_pq_.x"] },
      "v 00000013 00030002 00000001 5f70715f2e7800",
    ],
    [
      { kind: "parameterStatus", name: "TimeZone", value: "UTC" },
      "S 00000011 54696d655a6f6e6500 55544300",
    ],
    [{ kind: "ready", status: "T" }, "Z 00000005 54"],
    [{ kind: "parseComplete" }, "1 00000004"],
    [{ kind: "bindComplete" }, "2 00000004"],
    [{ kind: "closeComplete" }, "3 00000004"],
    [{ kind: "noData" }, "n 00000004"],
    [{ kind: "portalSuspended" }, "s 00000004"],
    [{ kind: "emptyQuery" }, "I 00000004"],
    [{ kind: "copyOut", format: 1, columns: 2 }, "H 0000000b 01 0002 0001 0001"],
    [{ kind: "copyOut", format: 0, columns: 0 }, "H 00000007 00 0000"],
    [{ kind: "copyDone" }, "c 00000004"],
    [{ kind: "parameterDescription", types: [23, 25] }, "t 0000000e 0002 00000017 00000019"],
    [
      {
        kind: "rowDescription",
        fields: [{ name: "n", type: 1700, size: -1, modifier: 0x000c0006, format: 1 }],
      },
      "T 0000001a 0001 6e00 00000000 0000 000006a4 ffff 000c0006 0001",
    ],
    [{ kind: "commandComplete", tag: "SELECT 1" }, "C 0000000d 53454c454354203100"],
    [
      {
        kind: "error",
        report: { severity: "ERROR", sqlState: "42601", message: "no", position: 8 },
      },
      "E 00000021 53 4552524f5200 56 4552524f5200 43 343236303100 4d 6e6f00 50 3800 00",
    ],
    [
      {
        kind: "error",
        report: {
          severity: "ERROR",
          sqlState: "23505",
          message: "m",
          schema: "a",
          table: "b",
          column: "c",
          type: "d",
          constraint: "e",
        },
      },
      "E 0000002c 53 4552524f5200 56 4552524f5200 43 323335303500 4d 6d00 73 6100 74 6200 63 6300 64 6400 6e 6500 00",
    ],
    [
      {
        kind: "notice",
        report: { severity: "NOTICE", sqlState: "00000", message: "m", detail: "d", hint: "h" },
      },
      "N 00000025 53 4e4f5449434500 56 4e4f5449434500 43 303030303000 4d 6d00 44 6400 48 6800 00",
    ],
  ])("writes %j as PostgreSQL does", (message, expected) => {
    const out = new ByteWriter();
    writeBackend(out, message);
    const bytes = out.take();
    const letter = String.fromCharCode(bytes[0] ?? 0);
    expect(`${letter} ${hexOf(bytes.subarray(1))}`).toBe(
      `${letter} ${expected.slice(2).replaceAll(" ", "")}`,
    );
    expect(letter).toBe(expected[0]);
  });
});

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
