/**
 * Snapshots as somebody with the fleet secret could make them, and damage as lines and disks make it.
 * The hash and the mac are computed here anew, from what the contract says and not by its code.
 */
import { createHash, createHmac, hkdfSync } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";

const headKeyInfo = "gateway snapshot head v1";

/** `{head, body}` of an answer of `/worker/config`. */
export function snapshotIn(answer) {
  const packed = answer.headers["content-encoding"] === "gzip";
  const { head, ...body } = JSON.parse(packed ? gunzipSync(answer.body) : answer.body);
  return { head, body };
}

/** An answer like `answer` with a signed head over `body`; `more` is put over the head before. */
export function signed(answer, { head, body }, secret, more = {}) {
  const revision = `sha256:${createHash("sha256").update(canonical(body)).digest("hex")}`;
  const { mac: _mac, ...fields } = { ...head, revision, ...more };
  const { schemaVersion, epoch, sequence, confirmedAt } = fields;
  const text = [schemaVersion, fields.revision, epoch, sequence, confirmedAt].join("\n");
  const key = Buffer.from(hkdfSync("sha256", secret, "", headKeyInfo, 32));
  const mac = createHmac("sha256", key).update(text).digest("hex");
  return withText(
    answer,
    `{"head":${JSON.stringify({ ...fields, mac })},${canonical(body).slice(1)}`,
  );
}

/** The answer with another text, compressed as it should be. */
export function withText(answer, text) {
  return {
    ...answer,
    headers: { ...answer.headers, "content-encoding": "gzip" },
    body: gzipSync(text),
  };
}

export function textIn(answer) {
  const packed = answer.headers["content-encoding"] === "gzip";
  return (packed ? gunzipSync(answer.body) : answer.body).toString("utf8");
}

/** One bit of the middle is the other way. */
export function flipped(bytes) {
  const copy = Buffer.from(bytes);
  const middle = Math.floor(copy.length / 2);
  copy[middle] ^= 1;
  return copy;
}

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${members.join(",")}}`;
}
