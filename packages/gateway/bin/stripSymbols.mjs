/**
 * What `strip` does, in the one case that the image needs and without a compiler's tools: a 64-bit ELF file whose names for debuggers
 * lie behind all that is loaded. What is loaded stays as it is, byte for byte.
 */
const sizes = { header: 64, section: 64, program: 56 };
const magic = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
const types = { load: 1, noBytes: 8 };
const allocated = 2n;

/** Answers the shorter file, or the same bytes where it is none of these or nothing lies there. */
export function stripSymbols(bytes) {
  if (!bytes.subarray(0, magic.length).equals(magic)) return bytes;
  const sections = sectionsOf(bytes);
  const loadedEnd = endOfLoaded(bytes);
  const kept = sections.filter(({ at, loaded }) => at === 0 || loaded);
  const beyond = kept.some(({ type, end }) => type !== types.noBytes && end > loadedEnd);
  if (sections.length === 0 || beyond || loadedEnd >= bytes.length) return bytes;

  const names = namesOf(bytes, sections);
  const numbers = new Map(kept.map(({ at }, number) => [at, number]));
  const texts = ["", ...kept.slice(1).map(({ at }) => names[at]), ".shstrtab"].map(
    (name) => `${name}\0`,
  );
  const table = Buffer.from(texts.join(""), "latin1");
  const place = aligned(loadedEnd + table.length);
  const out = Buffer.alloc(place + (kept.length + 1) * sizes.section);
  bytes.copy(out, 0, 0, loadedEnd);
  table.copy(out, loadedEnd);
  let nameAt = 0;
  for (const [number, { head }] of kept.entries()) {
    const section = Buffer.from(head);
    section.writeUInt32LE(nameAt, 0);
    for (const field of [40, 44]) {
      const asked = section.readUInt32LE(field);
      // `sh_info` of other kinds is a count, and none of these points behind what is loaded.
      if (field === 40 || isReference(section))
        section.writeUInt32LE(numbers.get(asked) ?? 0, field);
    }
    section.copy(out, place + number * sizes.section);
    nameAt += texts[number].length;
  }
  namesSection(nameAt, loadedEnd, table.length).copy(out, place + kept.length * sizes.section);
  out.writeBigUInt64LE(BigInt(place), 40);
  out.writeUInt16LE(kept.length + 1, 60);
  out.writeUInt16LE(kept.length, 62);
  return out.length < bytes.length ? out : bytes;
}

function sectionsOf(bytes) {
  const start = Number(bytes.readBigUInt64LE(40));
  return Array.from({ length: bytes.readUInt16LE(60) }, (_, at) => {
    const head = bytes.subarray(start + at * sizes.section, start + (at + 1) * sizes.section);
    const [offset, size] = [24, 32].map((field) => Number(head.readBigUInt64LE(field)));
    const loaded = (head.readBigUInt64LE(8) & allocated) !== 0n;
    return { at, head, type: head.readUInt32LE(4), loaded, offset, end: offset + size };
  });
}

/** Of the file; what is loaded behind it is zeros. The headers of programs are among what is loaded. */
function endOfLoaded(bytes) {
  const start = Number(bytes.readBigUInt64LE(32));
  const ends = Array.from({ length: bytes.readUInt16LE(56) }, (_, at) => {
    const head = bytes.subarray(start + at * sizes.program);
    if (head.readUInt32LE(0) !== types.load) return 0;
    return Number(head.readBigUInt64LE(8)) + Number(head.readBigUInt64LE(32));
  });
  return Math.max(sizes.header, ...ends);
}

function namesOf(bytes, sections) {
  const { offset = 0 } = sections[bytes.readUInt16LE(62)] ?? {};
  return sections.map(({ head }) => {
    const start = offset + head.readUInt32LE(0);
    return bytes.toString("latin1", start, bytes.indexOf(0, start));
  });
}

/** SHF_INFO_LINK, or a table of relocations. */
function isReference(section) {
  return (section.readBigUInt64LE(8) & 0x40n) !== 0n || [4, 9].includes(section.readUInt32LE(4));
}

function namesSection(nameAt, offset, length) {
  const section = Buffer.alloc(sizes.section);
  section.writeUInt32LE(nameAt, 0);
  section.writeUInt32LE(3, 4);
  section.writeBigUInt64LE(BigInt(offset), 24);
  section.writeBigUInt64LE(BigInt(length), 32);
  section.writeBigUInt64LE(1n, 48);
  return section;
}

function aligned(offset) {
  return Math.ceil(offset / 8) * 8;
}
