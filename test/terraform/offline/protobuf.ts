/** Writes the few kinds of protobuf fields that a provider's schema is made of. */

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}

const VARINT = 0;
const LENGTH_DELIMITED = 2;

/** A message, a text or bytes as field `field`. */
export function bytesField(field: number, content: Buffer | string): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  return Buffer.concat([varint((field << 3) | LENGTH_DELIMITED), varint(bytes.length), bytes]);
}

/** A whole number from 0, an enum or a boolean as field `field`; nothing where it is 0, the default. */
export function numberField(field: number, value: number | boolean | undefined): Buffer {
  const number = Number(value ?? 0);
  if (number === 0) return Buffer.alloc(0);
  return Buffer.concat([varint((field << 3) | VARINT), varint(number)]);
}
