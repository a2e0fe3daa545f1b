/**
 * How many cases a property or a fuzzer tries. A push has no time for many, and each draws others; the nightly run, which
 * makes every test that needs nothing but Node once more, tries as many as are said for it.
 */
export function casesOf(byDay: number, atNight: number): number {
  return process.env["GATEWAY_NIGHTLY"] === "1" ? atNight : byDay;
}
