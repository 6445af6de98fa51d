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

const nestedSchema = z.object({
  nesting_mode: z.enum(['single', 'list', 'set']),
  min_items: z.number().optional(),
  max_items: z.number().optional(),
  get block() {
    return blockSchema;
  },
});

const blockSchema = z.object({
  attributes: z.record(z.string(), attributeSchema).optional(),
  get block_types() {
    return z.record(z.string(), nestedSchema).optional();
  },
});

export type ProviderBlock = z.infer<typeof blockSchema>;

const objectSchema = z.object({ version: z.number(), block: blockSchema });

export type ProviderObject = z.infer<typeof objectSchema>;

/** One provider in the output of `terraform providers schema -json`. */
export const providerSchema = z.object({
  provider: objectSchema,
  resource_schemas: z.record(z.string(), objectSchema),
  /** Left out where a provider has none. */
  data_source_schemas: z.record(z.string(), objectSchema).default({}),
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
