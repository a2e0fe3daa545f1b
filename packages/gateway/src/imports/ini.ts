/** Files of PgBouncer as data: its configuration, and the list of its users. Nothing is judged here. */

/** One `key = value`, with its line. */
export interface Entry {
  readonly key: string;
  readonly value: string;
  readonly line: number;
}

export interface Ini {
  /** By the name of the section, in lower case. */
  readonly sections: ReadonlyMap<string, readonly Entry[]>;
  /** Numbers of lines that are neither a section nor an entry; also `%include`, which is not followed. They may hold a password. */
  readonly unread: readonly number[];
}

/** Reads sections and their entries. A comment begins a line, as in PgBouncer. */
export function readIni(text: string): Ini {
  const sections = new Map<string, Entry[]>();
  const unread: number[] = [];
  let entries: Entry[] | undefined;
  for (const [index, whole] of text.split(/\r?\n/).entries()) {
    const line = whole.trim();
    if (line === "" || line.startsWith(";") || line.startsWith("#")) continue;
    const section = /^\[([^\]]+)\]$/.exec(line)?.[1]?.trim().toLowerCase();
    if (section !== undefined) {
      entries = sections.get(section) ?? [];
      sections.set(section, entries);
      continue;
    }
    const found = /^(?:"((?:[^"]|"")+)"|([^\s=]+))\s*=\s*(.*)$/.exec(line);
    const key = found?.[1]?.replaceAll('""', '"') ?? found?.[2];
    if (entries === undefined || key === undefined) unread.push(index + 1);
    else entries.push({ key, value: found?.[3] ?? "", line: index + 1 });
  }
  return { sections, unread };
}

/** The pairs of a connection string, as they stand behind a database's name; undefined where it is none. */
export function readPairs(text: string): ReadonlyMap<string, string> | undefined {
  const pairs = new Map<string, string>();
  const pair = /\s*([a-z_]+)\s*=\s*(?:'((?:[^']|'')*)'|([^\s']*))(?=\s|$)/gy;
  for (let found = pair.exec(text); found !== null; found = pair.exec(text)) {
    const [whole, key = "", quoted, bare = ""] = found;
    pairs.set(key, quoted?.replaceAll("''", "'") ?? bare);
    if (pair.lastIndex === text.length || whole === "") return pairs;
  }
  return text.trim() === "" ? pairs : undefined;
}

/** A user of `auth_file` with what stands for the password. */
export interface ListedUser {
  readonly name: string;
  readonly secret: string;
}

/** Lines of `"user" "secret"`. A line of another form is passed over, as PgBouncer does. */
export function readUserlist(text: string): readonly ListedUser[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, name, secret] = /^\s*"((?:[^"]|"")*)"\s+"((?:[^"]|"")*)"/.exec(line) ?? [];
    if (name === undefined || name === "" || secret === undefined) return [];
    return [{ name: name.replaceAll('""', '"'), secret: secret.replaceAll('""', '"') }];
  });
}
