import { readFileSync } from 'node:fs';
import { z } from 'zod';

/*
 * What of a provider's schema is kept, in the form in which `terraform providers schema -json` prints it:
 * names, types, and what must, may and cannot be set. Descriptions are left out.
 */

const attributeSchema = z.object({
  /** A type constraint as Terraform writes it in JSON: `"string"`, `["list","string"]`, … */
  type: z.json(),
  required: z.boolean().optional(),
  optional: z.boolean().optional(),
  computed: z.boolean().optional(),
  sensitive: z.boolean().optional(),
  /** Never stored in a state (Terraform 1.11). */
  write_only: z.boolean().optional(),
});

export type ProviderAttribute = z.infer<typeof attributeSchema>;

export interface ProviderBlock {
  attributes?: Record<string, ProviderAttribute> | undefined;
  block_types?: Record<string, NestedBlock> | undefined;
}

interface NestedBlock {
  nesting_mode: 'single' | 'list' | 'set';
  min_items?: number | undefined;
  max_items?: number | undefined;
  block: ProviderBlock;
}

const blockSchema: z.ZodType<ProviderBlock> = z.lazy(() =>
  z.object({
    attributes: z.record(z.string(), attributeSchema).optional(),
    block_types: z
      .record(
        z.string(),
        z.object({
          nesting_mode: z.enum(['single', 'list', 'set']),
          min_items: z.number().optional(),
          max_items: z.number().optional(),
          block: blockSchema,
        }),
      )
      .optional(),
  }),
);

const objectSchema = z.object({ version: z.number(), block: blockSchema });

export type ProviderObject = z.infer<typeof objectSchema>;

/** One provider in the output of `terraform providers schema -json`. */
export const printedProviderSchema = z.object({
  provider: objectSchema,
  resource_schemas: z.record(z.string(), objectSchema),
  /** Left out where a provider has none. */
  data_source_schemas: z.record(z.string(), objectSchema).default({}),
});

const providerSchema = printedProviderSchema.extend({
  /** The version of the provider that this is the schema of. */
  provider_version: z.string(),
});

export type ProviderSchema = z.infer<typeof providerSchema>;

/** The providers that terraform/ requires, all of them HashiCorp's; their types begin with their names. */
export const providerNames = ['google', 'time'] as const;

export type ProviderName = (typeof providerNames)[number];

/** How Terraform names a provider. */
export const providerAddress = (name: ProviderName): string =>
  `registry.terraform.io/hashicorp/${name}`;

export const schemaFile = (name: ProviderName): URL =>
  new URL(`./${name}-provider-schema.json`, import.meta.url);

/** The stored schema of a provider, with the resources that the project uses. */
export const readProviderSchema = (name: ProviderName): ProviderSchema =>
  providerSchema.parse(JSON.parse(readFileSync(schemaFile(name), 'utf8')));

/** Resources and data sources of all providers, by their types. */
export type KnownTypes = Pick<ProviderSchema, 'resource_schemas' | 'data_source_schemas'>;

export function readKnownTypes(): KnownTypes {
  const schemas = providerNames.map(readProviderSchema);
  return {
    resource_schemas: Object.assign({}, ...schemas.map((one) => one.resource_schemas)),
    data_source_schemas: Object.assign({}, ...schemas.map((one) => one.data_source_schemas)),
  };
}
