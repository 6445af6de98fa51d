import { z } from 'zod';
import {
  printedProviderSchema,
  providerAddress,
  type ProviderName,
  type ProviderSchema,
} from './provider-schema.ts';

const printedSchema = z.object({
  provider_schemas: z.record(z.string(), z.unknown()),
});

const sorted = <Value>(record: Record<string, Value>): [string, Value][] =>
  Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));

const chosen = <Value>(record: Record<string, Value>, names: ReadonlySet<string>) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)));

/**
 * What of a provider in the output of `terraform providers schema -json` is kept: the resources and data sources
 * that are named. Throws Error where one is missing there.
 */
export function slimSchema(
  printed: unknown,
  keep: {
    provider: ProviderName;
    version: string;
    resources: ReadonlySet<string>;
    data: ReadonlySet<string>;
  },
): ProviderSchema {
  const schema = printedProviderSchema.parse(
    printedSchema.parse(printed).provider_schemas[providerAddress(keep.provider)],
  );
  const missing = [
    ...[...keep.resources].filter((name) => !(name in schema.resource_schemas)),
    ...[...keep.data].filter((name) => !(name in schema.data_source_schemas)),
  ];
  if (missing.length > 0)
    throw new Error(
      `${keep.provider} ${keep.version} has no ${missing.join(', ')}: removed or renamed?`,
    );
  return {
    provider_version: keep.version,
    provider: schema.provider,
    resource_schemas: chosen(schema.resource_schemas, keep.resources),
    data_source_schemas: chosen(schema.data_source_schemas, keep.data),
  };
}

/** A line for each resource, so that a new version of the provider is a readable difference. */
export function schemaText(schema: ProviderSchema): string {
  const lines = <Value>(record: Record<string, Value>) =>
    `{\n${sorted(record)
      .map(([name, value]) => `${JSON.stringify(name)}:${ordered(value)}`)
      .join(',\n')}\n}`;
  return `{
"provider_version":${JSON.stringify(schema.provider_version)},
"provider":${ordered(schema.provider)},
"resource_schemas":${lines(schema.resource_schemas)},
"data_source_schemas":${lines(schema.data_source_schemas)}
}
`;
}

/** JSON with the keys of every object in order. */
const ordered = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(sorted(z.record(z.string(), z.unknown()).parse(inner)))
      : inner,
  );
