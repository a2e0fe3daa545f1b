/** Attributes of a user: what a provider of identities says beside name, groups and roles. */
import { z } from "zod";

/** As rules write it, `${attributes.region}`, and as policy servers see it. */
export const attributeName = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_]{0,63}$/,
    "must be a name of letters, digits and _ that begins with a letter",
  );
