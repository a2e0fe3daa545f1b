/**
 * The difference of two snapshots as it crosses processes (RFC 3229): what is the same at the front and at the back of
 * both bodies is named, and only the middle is sent. Bodies are canonical, so that an edit moves nothing else; many edits
 * make a longer middle, never a wrong one. What comes of it is verified as a whole snapshot is.
 *
 * Offered by `A-IM: gateway-splice` beside `If-None-Match`, answered by 226 with `IM` and `Delta-Base`. The bytes are a
 * line of JSON, `{head, front, back}`, and the middle behind it.
 */
import { z } from "zod";
import { snapshotHeadSchema } from "./snapshot.ts";

/** In `A-IM` and `IM`. */
export const spliceName = "gateway-splice";
/** The status of an answer that is a difference. */
export const imUsed = 226;
/** No middle is longer: a whole snapshot is there, compressed. In bytes. */
export const spliceMiddleMax = 256 * 1024;
/** Longest first line, with its end. In bytes. */
export const spliceLineMax = 4_096;

export const spliceLineSchema = z.strictObject({
  head: snapshotHeadSchema,
  /** Bytes that are the base's first. */
  front: z.int().min(1),
  /** Bytes that are the base's last, behind those of `front`. */
  back: z.int().min(0),
});

export type SpliceLine = z.output<typeof spliceLineSchema>;
