import { findModel } from './find-model.ts';
import type { ModelCatalog } from './model-entry.ts';
import { isDearer, knownPrice } from './prices.ts';
import { modelInService } from './retirement.ts';

/**
 * The model that writes the snapshot of a conversation held with `model`: the one that its entry names, else
 * `fallback`, which other kinds of a family (image, live, audio models) and unknown ids get. Never one that is
 * retired or, where both prices are known, dearer than the conversation's own: that one summarises itself. Computed
 * afresh for each run, as a conversation may change its model.
 */
export function compressorModel(
  { model, fallback }: { model: string; fallback: string },
  catalog: ModelCatalog,
): string {
  const own = modelInService(model, catalog);
  const wanted = modelInService(findModel(catalog.models, own)?.compressor ?? fallback, catalog);
  const ownPrice = knownPrice(own, catalog);
  const wantedPrice = knownPrice(wanted, catalog);
  return ownPrice && wantedPrice && isDearer(wantedPrice, ownPrice) ? own : wanted;
}
