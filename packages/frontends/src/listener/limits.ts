/** Limits of every listener that no config changes. */

/** Time from the accept until a connection has identified itself. */
export const handshakeMsMax = 10_000;
/** Time from there on that its credential may take to be judged, while it waits for us: logins stand in line, and a directory may be slow. */
export const judgementMsMax = 60_000;
/** Time a closed connection has to take its last bytes. */
export const lingerMsMax = 2_000;
/** Refused connections that are told why at the same time; further ones are cut without a word. */
export const refusalsMax = 256;
/** A PROXY v1 line with its CRLF (PROXY protocol specification §2.1). */
export const proxyLineBytesMax = 107;
/** A PROXY v2 header with its extensions. The longest in use, with TLS details, stay under 600. */
export const proxyHeaderBytesMax = 2_048;
/** How often certificate files are looked at. */
export const certificatePollMs = 5_000;
/** After so much silence the system asks whether the peer is still there. */
export const keepAliveMs = 30_000;

/** Connections the system keeps until they are accepted; a burst beyond it waits for a retransmission of whole seconds. */
export const backlogMax = 4_096;
