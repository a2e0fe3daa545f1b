import { connect } from "node:net";
import { deflateSync, inflateSync } from "node:zlib";
import { columnOf } from "@gateway/core/type/build.ts";
import { FrameReader, frameHeader } from "@gateway/wire/mysql/compressed.ts";
import { PacketReader } from "@gateway/wire/mysql/packetReader.ts";
import { capability } from "@gateway/wire/mysql/protocol.ts";
import * as mariadb from "mariadb";
import { describe, expect, it } from "vitest";
import { closeOf } from "../rig/wait.ts";
import { codecOf, compressionFlags, inlineBytes } from "./compression.ts";
import { clientOf, resultOf, serverOf, tlsFilesOf } from "./rig/mysql.ts";
import { ascii, flags, packetOf, RawClient, responseHex } from "./rig/raw.ts";

const text = { kind: "text" } as const;
const passwords = { alice: "secret", bob: "other" };

describe("a compressed connection", () => {
  it("carries small and large answers to mysql2, and its own large statements", async () => {
    const long = Array.from({ length: 200_000 }, (_, index) => index).join(" ");
    const sql = `select '${long}'`;
    await using server = await serverOf(
      { answers: { [sql]: resultOf([columnOf("a", text)], [[long], ["short"]]) } },
      { maxStatementBytes: 1 << 26 },
    );
    await using client = await clientOf(server, { compress: true });
    expect((await client.query("select connection_id() as id"))[0]).toHaveLength(1);
    const [rows] = await client.query(sql);
    expect(rows).toEqual([{ a: long }, { a: "short" }]);
    expect((await client.query("show status like 'compression%'"))[0]).toEqual([
      { Variable_name: "Compression", Value: "ON" },
      { Variable_name: "Compression_algorithm", Value: "zlib" },
    ]);
    expect(server.bugs()).toEqual([]);
  });

  it("carries more than 16 MB in one piece to the mariadb package, over TLS", async () => {
    using files = tlsFilesOf();
    const long = "0123456789abcdef".repeat(1_100_000);
    const sql = `select '${long}'`;
    await using server = await serverOf(
      { passwords, answers: { [sql]: resultOf([columnOf("a", text)], [[long]]) } },
      { tls: files.tls, maxStatementBytes: 1 << 26 },
    );
    const client = await mariadb.createConnection({
      host: "127.0.0.1",
      port: server.port,
      user: "alice",
      password: "secret",
      ssl: { ca: files.cert },
      compress: true,
    });
    const rows = (await client.query({ sql, rowsAsArray: true })) as unknown[][];
    expect(rows[0]?.[0] === long).toBe(true);
    await client.end();
  });

  it("changes the user without an end of the compression", async () => {
    await using server = await serverOf({ passwords });
    const config = { user: "alice", password: "secret", compress: true };
    await using client = await clientOf(server, config);
    await client.changeUser({ user: "bob", password: "other" });
    expect((await client.query("select current_user() as u"))[0]).toEqual([{ u: "bob@%" }]);
  });

  it("numbers its frames behind the client's and leaves short content as it is", async () => {
    await using server = await serverOf();
    using client = await compressed(server.port);
    client.socket.write(framed(packetOf("0e", 0)));
    const [frame] = await client.frames(1);
    expect(frame).toMatchObject({ sequence: 1, contentBytes: undefined });
    client.socket.write(framed(packetOf(ascii("\u0003show collation"), 0)));
    const [long] = await client.frames(1);
    expect(long?.sequence).toBe(1);
    expect(inflateSync(long?.bytes ?? new Uint8Array(0)).length).toBe(long?.contentBytes);
  });

  it.each([
    ["is not compressed at all", Buffer.from("nonsense"), 100],
    ["is longer than it says", deflateSync(Buffer.alloc(5000)), 100],
    ["is shorter than it says", deflateSync(Buffer.alloc(100)), 5000],
    ["is a bomb", deflateSync(Buffer.alloc(1 << 24)), inlineBytes + 1],
  ])("ends when content %s", async (_what, bytes, contentBytes) => {
    await using server = await serverOf();
    using client = await compressed(server.port);
    client.socket.write(Buffer.concat([frameHeader(bytes.length, 0, contentBytes), bytes]));
    const [frame] = await client.frames(1);
    const reader = new PacketReader(1 << 16);
    reader.push(frame?.bytes ?? new Uint8Array(0));
    const packet = reader.next();
    expect(packet.kind === "packet" && packet.payload[0]).toBe(0xff);
    await closeOf(client.socket);
    expect(server.bugs()).toEqual([]);
  });

  it("ends when a frame is out of order", async () => {
    await using server = await serverOf();
    using client = await compressed(server.port);
    const ping = packetOf("0e", 0);
    client.socket.write(Buffer.concat([frameHeader(ping.length, 7, 0), ping]));
    await closeOf(client.socket);
    expect(server.bugs()).toEqual([]);
  });
});

describe("codecOf", () => {
  it.each(["zlib", "zstd"])("gives back what %s packed, in the open and apart", async (name) => {
    const flag = name === "zlib" ? capability.compress : capability.zstdCompression;
    const codec = codecOf(flag, 22);
    // Runtimes before 22.15 have no zstd; it is then not offered either.
    expect(codec === undefined).toBe((compressionFlags & flag) === 0);
    if (codec === undefined) return;
    const content = Buffer.from("abc".repeat(10_000));
    for (const packed of [codec.packNow(content), await codec.pack(content)]) {
      expect(packed.length).toBeLessThan(content.length);
      expect(codec.unpackNow(packed, content.length)).toEqual(content);
      expect(await codec.unpack(packed, content.length)).toEqual(content);
      expect(await codec.unpack(packed, content.length - 1)).toBeUndefined();
      expect(codec.unpackNow(Buffer.from("no"), 2)).toBeUndefined();
    }
  });
});

function framed(packet: Uint8Array): Buffer {
  return Buffer.concat([frameHeader(packet.length, 0, 0), packet]);
}

/** Logs in plain, then reads frames. */
async function compressed(port: number) {
  const client = new RawClient(connect(port, "127.0.0.1"));
  await client.answer();
  const hex = responseHex("mysql_native_password", flags | capability.compress);
  client.socket.write(packetOf(hex, 1));
  await client.answer();
  const reader = new FrameReader();
  let wake: () => void = () => undefined;
  client.socket.removeAllListeners("data");
  client.socket.on("data", (chunk: Buffer) => {
    reader.push(chunk);
    wake();
  });
  client.socket.on("close", () => wake());
  const next = async () => {
    for (;;) {
      const step = reader.next();
      if (step.kind === "frame") return step;
      if (client.socket.closed) throw new Error("no frame came");
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return {
    socket: client.socket,
    frames: async (count: number) => {
      // The answer to frame 0.
      reader.expect(1);
      const found = [];
      while (found.length < count) found.push(await next());
      return found;
    },
    [Symbol.dispose]: () => client[Symbol.dispose](),
  };
}
