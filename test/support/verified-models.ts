import type { ModelCatalog } from '#shared/models/model-entry.ts';
import { modelRegistry, VERIFIED_ON } from '#shared/models/model-registry.ts';

/** The models as they were on the day on which the registry was last verified: what measurements reckon with. */
export const verifiedModels: ModelCatalog = {
  models: modelRegistry,
  prices: {},
  platform: 'geminiApi',
  now: new Date(VERIFIED_ON),
};
