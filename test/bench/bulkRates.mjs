/** How fast large results pass on several ways that take turns, beside a bare relay. */
import { median, spread } from "./figures.mjs";
import { cpuOf } from "./processes.mjs";

const rounds = 5;

/** `ways`: name, process that is measured, and what passes a result and answers its bytes. Medians with lowest and highest. */
export async function ratesOf(what, ways) {
  const found = ways.map((way) => ({ ...way, rates: [], cpu: [] }));
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const { pid, pass, rates, cpu } of found) {
      const cpuBefore = pid === undefined ? 0 : cpuOf(pid);
      const from = performance.now();
      const bytes = await pass();
      const rate = bytes / 1e3 / (performance.now() - from);
      if (round === 0) continue;
      rates.push(rate);
      if (pid !== undefined) cpu.push((cpuOf(pid) - cpuBefore) / (bytes / 1e9));
    }
  }
  const reached = median(found.find(({ way }) => way.startsWith("bare")).rates);
  return found.map(({ way, rates, cpu }) => ({
    what: `${what}, ${way}`,
    "MB/s": spread(rates, 0),
    "of the bare relay": `${((median(rates) / reached) * 100).toFixed(0)} %`,
    ...(cpu.length === 0 ? {} : { "its CPU s/GB": spread(cpu, 2) }),
  }));
}
