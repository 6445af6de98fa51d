import { z } from 'zod';

const pascal = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** The forms of a union by the values of the field that tells them apart. */
function forms(schema: z.ZodType): [value: string, form: z.ZodType][] {
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return [];
  const { discriminator } = schema.def;
  return schema.options.flatMap((form): [string, z.ZodType][] => {
    const field = form instanceof z.ZodObject ? form.shape[discriminator] : undefined;
    return field instanceof z.ZodLiteral && form instanceof z.ZodType
      ? [[String(field.value), form]]
      : [];
  });
}

/** `StreamChunkTextDelta` for the form `text-delta` of StreamChunk. */
const formName = (union: string, value: string) =>
  `${union}${value.split('-').map(pascal).join('')}`;

/** A named union with its forms, each under a name of its own: generators call them by it. */
export const withForms = ([name, schema]: readonly [string, z.ZodType]): [string, z.ZodType][] => [
  [name, schema],
  ...forms(schema).map(([value, form]): [string, z.ZodType] => [formName(name, value), form]),
];

/** Says which field tells the forms of a named union apart; `prefix` stands before names in references. */
export function describeForms(
  [name, schema]: readonly [string, z.ZodType],
  prefix: string,
): z.core.JSONSchema.BaseSchema {
  const values = forms(schema).map(([value]) => [value, `${prefix}${formName(name, value)}`]);
  if (!(schema instanceof z.ZodDiscriminatedUnion) || values.length === 0) return {};
  const { discriminator: propertyName } = schema.def;
  return { discriminator: { propertyName, mapping: Object.fromEntries(values) } };
}
