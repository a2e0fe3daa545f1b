/** Limits of every listener that no config changes. */

/** Time from the accept until a connection has identified itself. */
export const handshakeMsMax = 10_000;
/** Time from there on to judge its credential. The client waits for us: logins queue, and a directory may be slow. */
export const judgementMsMax = 60_000;
/** Time a closed connection has to take its last bytes. */
export const lingerMsMax = 2_000;
/** So many refused connections are told why at the same time; further ones are cut off without a word. */
export const refusalsMax = 256;
/** A PROXY v1 line with its CRLF (PROXY protocol specification §2.1). */
export const proxyLineBytesMax = 107;
/** A PROXY v2 header with its extensions. The longest in use, with TLS details, stay under 600. */
export const proxyHeaderBytesMax = 2_048;
/** How often certificate files are checked for changes. */
export const certificatePollMs = 5_000;
/** After so much silence the system asks whether the peer is still there. */
export const keepAliveMs = 30_000;

/** Connections that the system holds until we accept them. A client beyond that retries after whole seconds. */
export const backlogMax = 4_096;
