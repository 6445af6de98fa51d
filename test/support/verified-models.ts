import type { ModelCatalog } from '#shared/models/model-entry.ts';
import { registry, VERIFIED_ON } from '#shared/models/registry.ts';

/** The models as they were on the day on which the registry was last verified: what measurements reckon with. */
export const verifiedModels: ModelCatalog = {
  models: registry,
  prices: {},
  platform: 'geminiApi',
  now: new Date(VERIFIED_ON),
};
