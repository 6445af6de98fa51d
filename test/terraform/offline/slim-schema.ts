import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { terraformFolder } from '../check-terraform.ts';
import {
  providerAddress,
  providerSchema,
  type ProviderName,
  type ProviderObject,
} from './provider-schema.ts';

/** Types of a provider that the `.tf` files of terraform/ name. */
function usedTypes(provider: ProviderName, keyword: 'resource' | 'data'): string[] {
  const text = readdirSync(terraformFolder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.tf'))
    .map((name) => readFileSync(join(terraformFolder, name), 'utf8'))
    .join('\n');
  const pattern = new RegExp(String.raw`^${keyword} "(${provider}_\w+)"`, 'gm');
  return [...new Set([...text.matchAll(pattern)].map(([, type = '']) => type))].toSorted();
}

/** JSON with the keys of every object in order. */
const ordered = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => {
    const record = z.record(z.string(), z.unknown()).safeParse(inner).data;
    return record === undefined
      ? inner
      : Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });

const printedSchema = z.object({ provider_schemas: z.record(z.string(), z.unknown()) });

/**
 * What is stored of a provider in the output of `terraform providers schema -json`: the resources and data
 * sources that terraform/ names, a line for each, so that a new version of the provider is a readable
 * difference. Throws Error where one is missing there.
 */
export function schemaText(printed: unknown, provider: ProviderName, version: string): string {
  const schema = providerSchema.parse(
    printedSchema.parse(printed).provider_schemas[providerAddress(provider)],
  );
  const lines = (keyword: 'resource' | 'data', objects: Record<string, ProviderObject>) => {
    const types = usedTypes(provider, keyword);
    const missing = types.filter((type) => !(type in objects));
    if (missing.length > 0)
      throw new Error(`${provider} ${version} has no ${missing.join(', ')}: removed or renamed?`);
    return types.map((type) => `${JSON.stringify(type)}:${ordered(objects[type])}`).join(',\n');
  };
  return `{
"provider_version":${JSON.stringify(version)},
"provider":${ordered(schema.provider)},
"resource_schemas":{
${lines('resource', schema.resource_schemas)}
},
"data_source_schemas":{
${lines('data', schema.data_source_schemas)}
}
}
`;
}
