/** Just enough of the PostgreSQL protocol to read bytes as fast, or as slowly, as one likes. */
export function pgStartup(user) {
  const body = Buffer.from(`\0\x03\0\0user\0${user}\0\0`, "latin1");
  return Buffer.concat([lengthOf(body.length + 4), body]);
}

export function pgQuery(sql) {
  const body = Buffer.from(`${sql}\0`, "utf8");
  return Buffer.concat([Buffer.from("Q"), lengthOf(body.length + 4), body]);
}

/** The same through the extended protocol, all columns in binary. */
export function pgBinaryQuery(sql) {
  const message = (letter, body) =>
    Buffer.concat([Buffer.from(letter), lengthOf(body.length + 4), body]);
  const none = [0, 0];
  const binary = [0, 1, 0, 1];
  return Buffer.concat([
    message("P", Buffer.concat([Buffer.from(`\0${sql}\0`, "utf8"), Buffer.from(none)])),
    message("B", Buffer.from([0, 0, ...none, ...none, ...binary])),
    message("E", Buffer.alloc(5)),
    message("S", Buffer.alloc(0)),
  ]);
}

/**
 * Reads messages until ReadyForQuery; answers how many rows and bytes came. `pace(bytes)` may answer
 * a promise, which holds the reading up. Only message heads are looked at.
 *
 * @param {(bytes: number) => Promise<void> | undefined} pace
 */
export async function readUntilReady(socket, pace = () => undefined) {
  let rows = 0;
  let bytes = 0;
  let head = Buffer.alloc(0);
  let skip = 0;
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    let offset = 0;
    while (offset < chunk.length) {
      if (skip > 0) {
        const step = Math.min(skip, chunk.length - offset);
        skip -= step;
        offset += step;
        continue;
      }
      const need = 5 - head.length;
      const part = chunk.subarray(offset, offset + need);
      head = head.length === 0 ? part : Buffer.concat([head, part]);
      offset += part.length;
      if (head.length < 5) break;
      const kind = head[0];
      skip = head.readUInt32BE(1) - 4;
      head = Buffer.alloc(0);
      if (kind === 0x44) rows += 1;
      if (kind === 0x45) throw new Error("the gateway answered an error");
      if (kind === 0x5a) return { rows, bytes };
    }
    await pace(chunk.length);
  }
  throw new Error("the connection ended early");
}

function lengthOf(length) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return bytes;
}
