import { bytesField, numberField } from './protobuf.ts';
import type {
  ProviderAttribute,
  ProviderBlock,
  ProviderObject,
  ProviderSchema,
} from './provider-schema.ts';

/*
 * GetProviderSchema.Response of Terraform's plugin protocol, version 6. The numbers are those of the
 * fields in its tfplugin6.proto.
 */

const NESTING = { single: 1, list: 2, set: 3 } as const;

function encodeAttribute(name: string, attribute: ProviderAttribute): Buffer {
  return Buffer.concat([
    bytesField(1, name),
    bytesField(2, JSON.stringify(attribute.type)),
    numberField(4, attribute.required),
    numberField(5, attribute.optional),
    numberField(6, attribute.computed),
    numberField(7, attribute.sensitive),
    numberField(11, attribute.write_only),
  ]);
}

function encodeBlock({ attributes = {}, block_types: blocks = {} }: ProviderBlock): Buffer {
  return Buffer.concat([
    ...Object.entries(attributes).map(([name, attribute]) =>
      bytesField(2, encodeAttribute(name, attribute)),
    ),
    ...Object.entries(blocks).map(([name, nested]) =>
      bytesField(
        3,
        Buffer.concat([
          bytesField(1, name),
          bytesField(2, encodeBlock(nested.block)),
          numberField(3, NESTING[nested.nesting_mode]),
          numberField(4, nested.min_items),
          numberField(5, nested.max_items),
        ]),
      ),
    ),
  ]);
}

const encodeObject = ({ version, block }: ProviderObject): Buffer =>
  Buffer.concat([numberField(1, version), bytesField(2, encodeBlock(block))]);

/** A map from names to objects as field `field`. */
const encodeObjects = (field: number, objects: Record<string, ProviderObject>): Buffer =>
  Buffer.concat(
    Object.entries(objects).map(([name, object]) =>
      bytesField(field, Buffer.concat([bytesField(1, name), bytesField(2, encodeObject(object))])),
    ),
  );

/** The answer to GetProviderSchema. */
export const encodeProviderSchema = (schema: ProviderSchema): Buffer =>
  Buffer.concat([
    bytesField(1, encodeObject(schema.provider)),
    encodeObjects(2, schema.resource_schemas),
    encodeObjects(3, schema.data_source_schemas),
  ]);
