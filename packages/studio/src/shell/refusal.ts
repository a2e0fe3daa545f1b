/** Why a sign-on was refused, in words. The code comes in the address, where anybody may write one. */
import type { SignOnRefusal } from "@gateway/contract/studioApi.ts";

const texts: Readonly<Record<SignOnRefusal, string>> = {
  linkUsed: "This link was used already, or has expired. Ask for another one, or log in here.",
  cancelled: "The login at the identity provider was cancelled.",
  expired: "The login took too long. Try it again.",
  refused: "The identity provider did not confirm this login.",
  noRole: "You are known, but no role of this gateway is yours. An administrator can change that.",
  nameTaken: "A local user has your name already. An administrator can change that.",
  unavailable: "The identity provider or the database does not answer.",
};

/** Undefined for none, and for a code that is not ours. */
export function refusalOf(code: string | null): string | undefined {
  return code !== null && Object.hasOwn(texts, code) ? texts[code as SignOnRefusal] : undefined;
}
