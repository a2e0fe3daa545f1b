/** A number against its cap; a number alone where there is none. The bar repeats what the text says. */
import { countText } from "../tool/format.ts";

export function Meter({
  value,
  max,
}: {
  readonly value: number;
  readonly max: number | undefined;
}) {
  if (max === undefined || max === 0) return <>{countText(value)}</>;
  const share = Math.min(1, value / max);
  return (
    <span className="meter">
      <span className="track" aria-hidden="true">
        <span
          className={share >= 1 ? "fill full" : "fill"}
          style={{ display: "block", width: `${share * 100}%` }}
        />
      </span>
      <span className="number">
        {countText(value)} of {countText(max)}
      </span>
    </span>
  );
}
