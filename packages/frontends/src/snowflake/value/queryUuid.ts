/**
 * Ids of queries as drivers take them. Snowflake's are UUIDs, and some drivers refuse everything else; ours are dates
 * with a count and a random suffix. So each is written in the form of the other: date, time and count as they are read,
 * and the suffix as a number. `20260101_235959_00042_k3v9x2m1` is `20260101-2359-5900-0420-` and twelve digits more.
 */

const plainForm = /^(\d{8})_(\d{6})_(\d{5})_([a-z\d]{1,8})(-all)?$/;
const uuidForm = /^(\d{8})-(\d{4})-(\d{2})(\d{2})-(\d{3})([01])-([\da-f]{12})$/;
const suffixDigits = 12;
const radix = 36;
/** Keeps zeros at the front of a suffix. */
const guard = "1";

/** Behind the id of the first of several statements: all of them together. */
export const severalSuffix = "-all";

/** The id as drivers are told it. One of another form stays as it is. */
export function uuidOf(id: string): string {
  const [, date = "", time = "", count = "", suffix, several] = plainForm.exec(id) ?? [];
  if (suffix === undefined) return id;
  const number = Number.parseInt(guard + suffix, radix)
    .toString(16)
    .padStart(suffixDigits, "0");
  const middle = `${time.slice(4)}${count}${several === undefined ? 0 : 1}`;
  return `${date}-${time.slice(0, 4)}-${middle.slice(0, 4)}-${middle.slice(4)}-${number}`;
}

/** The id that a driver means. One of another form stays as it is: nobody has it, or it was never a UUID. */
export function idOf(shown: string): string {
  const found = uuidForm.exec(shown.toLowerCase());
  if (found === null) return shown;
  const [, date = "", minutes = "", seconds = "", head = "", tail = "", several, number = ""] =
    found;
  const suffix = Number.parseInt(number, 16).toString(radix);
  if (!suffix.startsWith(guard)) return shown;
  const id = `${date}_${minutes}${seconds}_${head}${tail}_${suffix.slice(guard.length)}`;
  return several === "1" ? id + severalSuffix : id;
}
