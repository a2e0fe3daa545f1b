/** A comment in which a client writes the tags of its statement: one line, or block, that says nothing else. */

/** Longer comments are not looked into. */
const lengthMax = 4_096;
const form = /^(?:--|#|\/\*)\s*gateway\.tags\s*=([^*]*)(?:\*\/)?$/;

/** The tags' text, such as `team:data,job:nightly`, in which no comment ends; undefined for any other comment. */
export function tagsOfComment(comment: string): string | undefined {
  return comment.length > lengthMax ? undefined : form.exec(comment.trimEnd())?.[1]?.trim();
}
