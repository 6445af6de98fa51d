import type {
  ProviderAttribute,
  ProviderBlock,
  ProviderObject,
  ProviderSchema,
} from './provider-schema.ts';

/*
 * GetProviderSchema.Response of Terraform's plugin protocol, version 6, in protobuf. The numbers are those of
 * the fields in its tfplugin6.proto.
 */

const VARINT = 0;
const LENGTH_DELIMITED = 2;

const NESTING = { single: 1, list: 2, set: 3 } as const;

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

/** A text, or the message of these fields, as field `field`. */
function bytesField(field: number, ...content: (Buffer | string)[]): Buffer {
  const bytes = Buffer.concat(content.map((one) => Buffer.from(one)));
  return Buffer.concat([varint((field << 3) | LENGTH_DELIMITED), varint(bytes.length), bytes]);
}

/** A whole number from 0, an enum or a boolean as field `field`; nothing where it is 0, the default. */
function numberField(field: number, value: number | boolean = 0): Buffer {
  const number = Number(value);
  if (number === 0) return Buffer.alloc(0);
  return Buffer.concat([varint((field << 3) | VARINT), varint(number)]);
}

const encodeAttribute = (name: string, attribute: ProviderAttribute): Buffer =>
  bytesField(
    2,
    bytesField(1, name),
    bytesField(2, JSON.stringify(attribute.type)),
    numberField(4, attribute.required),
    numberField(5, attribute.optional),
    numberField(6, attribute.computed),
    numberField(7, attribute.sensitive),
    numberField(11, attribute.write_only),
  );

const encodeBlock = (block: ProviderBlock): Buffer =>
  bytesField(
    2,
    ...Object.entries(block.attributes ?? {}).map(([name, one]) => encodeAttribute(name, one)),
    ...Object.entries(block.block_types ?? {}).map(([name, nested]) =>
      bytesField(
        3,
        bytesField(1, name),
        encodeBlock(nested.block),
        numberField(3, NESTING[nested.nesting_mode]),
        numberField(4, nested.min_items),
        numberField(5, nested.max_items),
      ),
    ),
  );

const encodeObject = (field: number, { version, block }: ProviderObject): Buffer =>
  bytesField(field, numberField(1, version), encodeBlock(block));

/** A map from names to objects as field `field`. */
const encodeObjects = (field: number, objects: Record<string, ProviderObject>): Buffer[] =>
  Object.entries(objects).map(([name, object]) =>
    bytesField(field, bytesField(1, name), encodeObject(2, object)),
  );

/** The answer to GetProviderSchema. */
export const encodeProviderSchema = (schema: ProviderSchema): Buffer =>
  Buffer.concat([
    encodeObject(1, schema.provider),
    ...encodeObjects(2, schema.resource_schemas),
    ...encodeObjects(3, schema.data_source_schemas),
  ]);
