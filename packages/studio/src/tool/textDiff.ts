/** The difference of two texts by words, for SQL before and after. A table of the longest common row, within a limit. */

export interface Piece {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/** Beyond it the texts are shown one after the other. */
const cellsMax = 4_000_000;

/** Pieces in order; together without the added ones they are `from`, without the removed ones `to`. */
export function textDiff(from: string, to: string): readonly Piece[] {
  const a = wordsOf(from);
  const b = wordsOf(to);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (
    end < a.length - start &&
    end < b.length - start &&
    a[a.length - 1 - end] === b[b.length - 1 - end]
  ) {
    end += 1;
  }
  const middle = middleOf(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const pieces: Piece[] = [
    { kind: "same", text: a.slice(0, start).join("") },
    ...middle,
    { kind: "same", text: a.slice(a.length - end).join("") },
  ];
  return joined(pieces);
}

function wordsOf(text: string): readonly string[] {
  return text.match(/\s+|\w+|[^\s\w]/g) ?? [];
}

function middleOf(a: readonly string[], b: readonly string[]): readonly Piece[] {
  if (a.length * b.length > cellsMax) {
    return [
      { kind: "removed", text: a.join("") },
      { kind: "added", text: b.join("") },
    ];
  }
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const below = lengths[(i + 1) * width + j] ?? 0;
      const right = lengths[i * width + j + 1] ?? 0;
      const next = lengths[(i + 1) * width + j + 1] ?? 0;
      lengths[i * width + j] = a[i] === b[j] ? next + 1 : Math.max(below, right);
    }
  }
  return walked(a, b, lengths);
}

function walked(
  a: readonly string[],
  b: readonly string[],
  lengths: Uint16Array,
): readonly Piece[] {
  const width = b.length + 1;
  const pieces: Piece[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = a[i];
    const right = b[j];
    if (left !== undefined && left === right) {
      pieces.push({ kind: "same", text: left });
      i += 1;
      j += 1;
      continue;
    }
    const below = i < a.length ? (lengths[(i + 1) * width + j] ?? 0) : -1;
    const beside = j < b.length ? (lengths[i * width + j + 1] ?? 0) : -1;
    if (left !== undefined && below >= beside) {
      pieces.push({ kind: "removed", text: left });
      i += 1;
    } else {
      pieces.push({ kind: "added", text: right ?? "" });
      j += 1;
    }
  }
  return pieces;
}

/** Neighbours of one kind as one. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const all: Piece[] = [];
  for (const piece of pieces) {
    if (piece.text === "") continue;
    const last = all.at(-1);
    if (last?.kind === piece.kind) all[all.length - 1] = { ...last, text: last.text + piece.text };
    else all.push(piece);
  }
  return all;
}
