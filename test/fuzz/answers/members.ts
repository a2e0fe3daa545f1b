/** What the documents of several protocols are made of. */
import { z } from "zod";

export const text = z.string().min(1);
export const count = z.number().int().min(0);

/** Whether a document is an object with that member. */
export function has(document: unknown, name: string): boolean {
  return typeof document === "object" && document !== null && Object.hasOwn(document, name);
}
