/** The line of an answer that says when it was made (RFC 9110 §6.6.1), in whole seconds. */

let second = 0;
let line = "";

/** With its end. Made once for each second. */
export function dateLine(unixMs: number): string {
  const nowSecond = Math.floor(unixMs / 1000);
  if (nowSecond !== second) {
    second = nowSecond;
    line = `Date: ${new Date(unixMs).toUTCString()}\r\n`;
  }
  return line;
}
