import { createServer, type AddressInfo, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { anyEgress } from "@gateway/core/port/egress.ts";
import { DirectoryConnection } from "./connection.ts";

/** `SEQUENCE { INTEGER 1, [APPLICATION 24] { ENUMERATED 0, "", "" } }` */
const success = "300c02010178070a010004000400";

describe("the answer to StartTLS", () => {
  it.each<readonly [string, readonly string[]]>([
    ["in one piece", [success]],
    ["byte by byte", success.match(/../g) ?? []],
    ["with long lengths", ["30840000000c02010178070a010004000400"]],
    ["with a length of one byte more", ["30810c02010178070a010004000400"]],
  ])("is taken %s", async (_, pieces) => {
    expect(await answered(pieces)).toBe("accepted");
  });

  it.each<readonly [string, readonly string[], string]>([
    ["a byte behind it", [`${success}00`], "StartTLS was refused"],
    ["another message's number", ["300c02010278070a010004000400"], "StartTLS was refused"],
    ["a number that is none", ["300c04010178070a010004000400"], "StartTLS was refused"],
    ["another operation", ["300c02010161070a010004000400"], "StartTLS was refused"],
    ["another code", ["300c02010178070a010104000400"], "StartTLS was refused"],
    ["a code of two bytes", ["300d02010178080a02000004000400"], "StartTLS was refused"],
    ["a code that is none", ["300c020101780702010004000400"], "StartTLS was refused"],
    ["another envelope", ["310c02010178070a010004000400"], "StartTLS was refused"],
    ["an empty envelope", ["3000"], "StartTLS was refused"],
    ["a number alone", ["3003020101"], "StartTLS was refused"],
    ["an operation without a code", ["30050201017800"], "StartTLS was refused"],
    ["a length without an end", ["3080"], "no answer to StartTLS"],
    ["a length of five bytes", ["3085000000000c"], "no answer to StartTLS"],
    ["half of it and no more", [success.slice(0, 8), "end"], "the directory hung up"],
    ["more than an answer has", [`3082ffff${"00".repeat(1_021)}`], "no answer to StartTLS"],
  ])("is refused with %s", async (_, pieces, reason) => {
    expect(await answered(pieces)).toBe(reason);
  });
});

/** What becomes of a connection to a directory that answers with these pieces, and hangs up where one says `end`. */
async function answered(pieces: readonly string[]): Promise<string> {
  let accepted = false;
  const answer = async (socket: Socket): Promise<void> => {
    for (const piece of pieces) {
      if (piece === "end") return void socket.end();
      await new Promise((resolve) => socket.write(Buffer.from(piece, "hex"), resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
    // The first byte of a handshake (RFC 8446 §5.1).
    socket.once("data", (hello: Buffer) => {
      accepted = hello[0] === 0x16;
      socket.destroy();
    });
  };
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", () => void answer(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const url = `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const place = { url, startTls: true, ca: undefined };
  const { signal } = new AbortController();
  const opened = DirectoryConnection.open(place, { egress: anyEgress }, signal);
  const reason = await opened.then(
    () => "opened",
    (error: unknown) => (error as Error).message,
  );
  server.close();
  return accepted ? "accepted" : reason;
}
