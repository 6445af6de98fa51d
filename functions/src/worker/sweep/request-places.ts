import { z } from 'zod';
import { requestPlacesPath } from '#shared/conversation/documents/paths.ts';
import { GuardLostError } from '#shared/errors.ts';
import type { DocumentStore, Write } from '#shared/ports/ports.ts';

/** Where the next sweep begins with requests of each kind, by the time since when they wait; absent: at the oldest. */
interface RequestPlaces {
  manual?: Date | undefined;
  auto?: Date | undefined;
}

interface StoredPlaces extends RequestPlaces {
  /** Of the document; absent where there is none. */
  updateTime?: string;
}

/** A place that cannot be read is none: the sweep begins at the oldest. */
const place = z.date().optional().catch(undefined);
const placesSchema = z.object({ manual: place, auto: place });

/** The places as the last sweep left them. Throws StoreUnavailableError. */
export async function readRequestPlaces(store: Pick<DocumentStore, 'get'>): Promise<StoredPlaces> {
  const [document] = await store.get([requestPlacesPath]);
  if (!document) return {};
  return { ...placesSchema.parse(document.fields), updateTime: document.updateTime };
}

const isSame = (a: Date | undefined, b: Date | undefined) => a?.getTime() === b?.getTime();

/**
 * Stores the places for the next sweep, where they are others. Of two sweeps at once either may win. Throws
 * StoreUnavailableError.
 */
export async function keepRequestPlaces(
  store: Pick<DocumentStore, 'commit'>,
  { updateTime, ...before }: StoredPlaces,
  { manual, auto }: RequestPlaces,
): Promise<void> {
  if (isSame(before.manual, manual) && isSame(before.auto, auto)) return;
  const path = requestPlacesPath;
  const fields = { schemaVersion: 1, manual, auto };
  const remove = [...(manual ? [] : ['manual']), ...(auto ? [] : ['auto'])];
  const write: Write =
    updateTime === undefined
      ? { op: 'create', path, fields }
      : { op: 'update', path, fields, remove, guard: { updateTime } };
  try {
    await store.commit([write]);
  } catch (error) {
    if (!(error instanceof GuardLostError)) throw error;
  }
}
