/** Revisions by the hash of their content: workers report the hash alone, the control plane `epoch.sequence.hash`. */

/** `sha256:…` of either form. */
export function hashOf(revision: string): string {
  const at = revision.indexOf("sha256:");
  return at < 0 ? revision : revision.slice(at);
}

export function newestHash(revision: string | undefined): string | undefined {
  return revision === undefined ? undefined : hashOf(revision);
}

/** Twelve digits: enough to tell revisions of one fleet apart. */
export function shortHash(revision: string): string {
  return hashOf(revision).replace("sha256:", "").slice(0, 12);
}
