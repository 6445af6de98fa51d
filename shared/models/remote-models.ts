import { z } from 'zod';
import { findModel, type ModelEntry, modelEntrySchema, type ModelTable } from './model-entry.ts';
import { registry } from './registry.ts';
import { hasSuccessorLoop } from './retirement.ts';

/** An entry of the document; null takes a retirement back that the registry knows. */
const remoteEntrySchema = modelEntrySchema.extend({
  retirement: modelEntrySchema.shape.retirement.nullable(),
});

const recordSchema = z.record(z.string().min(1).max(200), z.unknown());

/** Most entries that are read: more is a mistake. */
const MOST_ENTRIES = 100;

/** What the registry knows of the model stays where the entry says nothing. */
function withEntry(models: ModelTable, name: string, value: unknown): ModelTable | undefined {
  const parsed = remoteEntrySchema.safeParse(value);
  if (!parsed.success) return undefined;
  const { retirement, ...fields } = parsed.data;
  const { retirement: known, ...base }: ModelEntry = findModel(models, name) ?? {};
  const wanted = retirement === undefined ? known : (retirement ?? undefined);
  const entry = { ...base, ...fields, ...(wanted && { retirement: wanted }) };
  const added = { ...models, [name]: entry };
  return hasSuccessorLoop(name, added) ? undefined : added;
}

/**
 * The registry with the entries of a remote document before its own, one by one: what is unusable, or names a
 * successor that leads back to it, is left out and named in `unusable` as `models.<name>`.
 */
export function readRemoteModels(value: unknown): { models: ModelTable; unusable: string[] } {
  if (value === undefined || value === null) return { models: registry, unusable: [] };
  const record = recordSchema.safeParse(value);
  if (!record.success || Object.keys(record.data).length > MOST_ENTRIES)
    return { models: registry, unusable: ['models'] };
  let models: ModelTable = registry;
  const unusable: string[] = [];
  for (const [name, entry] of Object.entries(record.data)) {
    const added = withEntry(models, name, entry);
    if (added === undefined) unusable.push(`models.${name}`);
    else models = added;
  }
  return { models, unusable };
}
