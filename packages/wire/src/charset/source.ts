/** What a character set of several bytes a character is made from: the runtime's decoder, and where a server reads otherwise. */

/** Where a set's characters come from. */
export interface Source {
  /** The encoding of the runtime's that is nearest. */
  readonly label: string;
  /** First bytes of the characters of two. */
  readonly leads: readonly Span[];
  /** Their second bytes begin here. */
  readonly trailMin: number;
  /** Characters of two bytes that the server has not. */
  readonly without?: readonly Span[];
  /** Consecutive characters that the server reads in another way; U+FFFD for one that it has not. */
  readonly otherwise?: readonly (readonly [code: number, characters: string])[];
  /** What a backslash is written as, where its own byte is read as one and none is written. */
  readonly backslash?: number;
  /** Bytes that are katakana by themselves. */
  readonly katakana?: true;
  /** Characters of three bytes begin with 0x8F; their other two are given without the second one's high bit. */
  readonly triples?: Pick<Source, "without" | "otherwise">;
  /** Places for characters that users make up: those that the decoder has, or the rows of EUC from 0xF5 on. */
  readonly own?: "decoder" | "rows" | "none";
  /** First bytes whose characters are also elsewhere, which is where they are written to. */
  readonly unwritten?: Span;
  /** Has the rest of Unicode in four bytes. */
  readonly quadruples?: true;
  /** Has all Korean syllables: those that its standard lacks in their order between its characters. */
  readonly syllables?: boolean;
}

/** From and to, both in it. */
export type Span = readonly [from: number, to: number];
