/** The statement that subscribes to a channel. */

/** A channel is an identifier, and so quoted like one. */
export function listenSql(channel: string): string {
  return `listen "${channel.replaceAll('"', '""')}"`;
}
