/** Opens the MySQL listener: one connection object per client, one set of ids, one password key. */
import type { Listen } from "@gateway/core/port/frontend.ts";
import { ok } from "@gateway/core/result.ts";
import { PacketWriter } from "@gateway/wire/mysql/packetWriter.ts";
import { openListener } from "../listener/accept.ts";
import { withOwnWords } from "../listener/statementLimits.ts";
import type { MysqlConfig } from "./config.ts";
import { MysqlConnection } from "./connection.ts";
import { putErrorPacket } from "./encode.ts";
import { errorReply } from "./errors.ts";
import { Members } from "./run/members.ts";
import { frontendKind } from "./login/opening.ts";
import { textReader } from "./read/reading.ts";
import { makePasswordKey, type PasswordKey } from "./login/passwordKey.ts";

export const listen: Listen<MysqlConfig> = async (config, door, host) => {
  const members = new Members(host);
  let made: Promise<PasswordKey> | undefined;
  const passwordKey = () => {
    made ??= makePasswordKey();
    return made;
  };
  // The key is made while clients connect; the first client that needs it waits.
  if (door.asksPassword) {
    passwordKey().catch((bug: unknown) => host.log.bug(bug, { listener: frontendKind }));
  }
  let boundPort = config.port;
  const parts = {
    door,
    host,
    members,
    passwordKey,
    startedMs: host.clock.nowMs(),
    read: textReader(),
    port: () => boundPort,
  };
  const opened = await openListener({
    kind: frontendKind,
    config: withOwnWords(config),
    host,
    onConnection: async (connection) => {
      // The greeting says what the servers have, which is known once they were asked.
      await door.learned?.();
      if (!connection.over) new MysqlConnection(connection, parts).start();
    },
    onRefused: (socket, error) => {
      // In place of the greeting, as a MySQL server does it.
      const out = new PacketWriter();
      putErrorPacket(out, errorReply(error));
      socket.write(out.release());
    },
  });
  if (!opened.ok) return opened;
  const listener = opened.value;
  boundPort = listener.port;
  return ok({
    kind: frontendKind,
    host: config.host,
    port: listener.port,
    tls: listener.tls,
    drain: (deadline) => listener.drain(deadline),
  });
};
