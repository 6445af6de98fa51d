import { findModel, type ModelCatalog, type ModelTable, utcDay } from './model-entry.ts';

/** When a model was shut down, and what is called in its place. */
export interface Retirement {
  day: string;
  successor: string;
}

/** The retirement of a model whose day has come on the catalog's platform; undefined while it is in service. */
export function findRetirement(
  model: string,
  { models, platform, now }: Pick<ModelCatalog, 'models' | 'platform' | 'now'>,
): Retirement | undefined {
  const retirement = findModel(models, model)?.retirement;
  const day = retirement?.[platform];
  if (retirement === undefined || day === undefined || utcDay(now) < day) return undefined;
  return { day, successor: retirement.successor };
}

/** The model that is called: this one, or the first of its successors that is in service. */
export function modelInService(
  model: string,
  catalog: Pick<ModelCatalog, 'models' | 'platform' | 'now'>,
): string {
  let current = model;
  // A chain is never longer than the table: a loop, which readers of tables refuse, would end here.
  for (const _ of Object.keys(catalog.models)) {
    const retirement = findRetirement(current, catalog);
    if (retirement === undefined) return current;
    current = retirement.successor;
  }
  return current;
}

/** Whether following successors from a model, on whatever day, comes back to where it was. */
export function hasSuccessorLoop(model: string, models: ModelTable): boolean {
  const seen = new Set<unknown>();
  for (let entry = findModel(models, model); entry?.retirement !== undefined;) {
    if (seen.has(entry)) return true;
    seen.add(entry);
    entry = findModel(models, entry.retirement.successor);
  }
  return false;
}
