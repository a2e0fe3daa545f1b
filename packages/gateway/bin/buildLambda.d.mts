/** One function's code. */
export interface BuiltFunction {
  readonly bytes: number;
  /** Files that went in, as paths from the root. */
  readonly inputs: readonly string[];
}

export function buildLambda(
  folder?: string,
): Promise<Readonly<Record<"control" | "migration" | "upkeep", BuiltFunction>>>;
