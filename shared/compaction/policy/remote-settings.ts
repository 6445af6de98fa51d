import { z } from 'zod';
import { isUsableNumber, numberFields, type PolicySettings } from './policy-settings.ts';
import { splitPolicies } from '../split/split-by-fraction.ts';
import { webhooksSchema, type Webhook } from '#shared/hooks/webhook.ts';
import type { ModelTable } from '#shared/models/model-entry.ts';
import { readRemoteModels } from '#shared/models/remote-models.ts';
import type { TokenRule } from '#shared/tokens/text-weight.ts';

const tokenRules = ['character-class', 'gemini-cli'] as const satisfies readonly TokenRule[];

const wordsSchema = z.object({
  tokenRule: z.enum(tokenRules).optional().catch(undefined),
  splitPolicy: z.enum(splitPolicies).optional().catch(undefined),
});
const wordFields = ['tokenRule', 'splitPolicy'] as const;

/** What remote configurations write for "not set". */
const isUnset = (value: unknown) =>
  value === undefined || value === null || value === 0 || value === '';

/**
 * The settings of a remote policy document, field by field: one that is unusable, or whose name nobody
 * knows, leaves the others in force and is named in `unusable`. 0 and '' ask the next level.
 */
export function readRemoteSettings(fields: Readonly<Record<string, unknown>>): {
  settings: PolicySettings;
  /** Addresses that are told of every compaction. */
  hooks: readonly Webhook[];
  /** The registry with what the document says of models. */
  models: ModelTable;
  unusable: string[];
} {
  const settings: PolicySettings = {};
  for (const field of numberFields) {
    const value = fields[field];
    if (typeof value === 'number' && isUsableNumber(field, value)) settings[field] = value;
  }
  const words = wordsSchema.parse(fields);
  if (words.tokenRule) settings.tokenRule = words.tokenRule;
  if (words.splitPolicy) settings.splitPolicy = words.splitPolicy;
  const hooks = webhooksSchema.safeParse(fields['hooks']).data ?? [];
  const { models, unusable: unusableModels } = readRemoteModels(fields['models']);
  const known = [...numberFields, ...wordFields];
  const unusableFields = Object.entries(fields)
    .filter(([name, value]) => {
      if (name === 'models') return false;
      if (name === 'hooks') return !isUnset(value) && !webhooksSchema.safeParse(value).success;
      const field = known.find((each) => each === name);
      return !isUnset(value) && (field === undefined || settings[field] === undefined);
    })
    .map(([name]) => name);
  const unusable = [...unusableFields, ...unusableModels].toSorted();
  return { settings, hooks, models, unusable };
}
