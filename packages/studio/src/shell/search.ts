/** Parameters of an address: texts and numbers by name, everything else is dropped. */

export type Search = Readonly<Record<string, string | number>>;

const namesMax = 32;
const textMax = 1_024;

export function cleanSearch(search: Record<string, unknown>): Record<string, string | number> {
  const kept: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(search).slice(0, namesMax)) {
    if (typeof value === "number" && Number.isFinite(value)) kept[name] = value;
    if (typeof value === "string" && value !== "" && value.length <= textMax) kept[name] = value;
  }
  return kept;
}

/** A text of the address; numbers are what somebody typed without quotes. */
export function textOf(search: Search, name: string): string | undefined {
  const value = search[name];
  return value === undefined ? undefined : String(value);
}

export function numberOf(search: Search, name: string): number | undefined {
  const value = Number(search[name]);
  return search[name] === undefined || !Number.isFinite(value) ? undefined : value;
}
