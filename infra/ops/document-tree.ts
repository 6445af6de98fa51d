import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { createAccessTokens } from '#functions/adapters/access-tokens.ts';
import { retry } from '#functions/lib/retry.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import { lastSegment } from '#shared/store/names.ts';

const REQUEST_TIMEOUT_MS = 30_000;
/** Lists are read again, so that a walk of hours does not end with one answer that was lost. */
const REQUEST_TRIES = 4;
const REQUEST_RETRY_MS = 1_000;
const COLLECTION_NAMES_MAX = 100;

const pageSchema = z.object({
  documents: z.array(z.object({ name: z.string() })).default([]),
  nextPageToken: z.string().optional(),
});
const collectionsSchema = z.object({ collectionIds: z.array(z.string()).default([]) });

/** What a database tells beside documents: what stands below those that are not there. */
export interface DocumentTree {
  /** Names of the collections below a document, the first hundred. */
  collectionsBelow(path: string): Promise<readonly string[]>;
  /** Ids in a collection, page by page; also those that have documents below them and none at their own path. */
  documentsIn(collection: string): AsyncIterable<string[]>;
}

interface Place {
  projectId: string;
  databaseId?: string | undefined;
  emulatorHost?: string | undefined;
}

/** Calls of the REST interface. Throws StoreUnavailableError when no try is answered. */
function createCall({
  emulatorHost,
}: Place): (url: string, init?: RequestInit) => Promise<unknown> {
  const tokens = createAccessTokens(['https://www.googleapis.com/auth/datastore']);

  async function callOnce(url: string, init: RequestInit): Promise<unknown> {
    const { pathname } = new URL(url);
    // The emulator takes this token for an administrator's.
    const token = emulatorHost ? 'owner' : await tokens.get();
    const response = await fetch(url, {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    }).catch((cause: unknown) => {
      throw new StoreUnavailableError({ operation: `list of ${pathname}`, cause });
    });
    const { status, ok } = response;
    if (status === 429 || status >= 500)
      throw new StoreUnavailableError({ operation: `list of ${pathname} (${status})` });
    if (!ok) throw new Error(`Firestore answered ${status} to ${pathname}`);
    return response.json();
  }

  return (url, init = {}) =>
    retry(() => callOnce(url, init), {
      mostTries: REQUEST_TRIES,
      isRetryable: (error) => error instanceof StoreUnavailableError,
      beforeNext: (tries) => delay(REQUEST_RETRY_MS * tries),
    });
}

/** The tree of a Firestore database, or of one of its emulator, through its REST interface: the client has no pages. */
export function createDocumentTree(place: Place): DocumentTree {
  const { projectId, databaseId = '(default)', emulatorHost } = place;
  const host = emulatorHost ? `http://${emulatorHost}` : 'https://firestore.googleapis.com';
  const root = `${host}/v1/projects/${projectId}/databases/${databaseId}/documents`;
  const pathOf = (path: string) => path.split('/').map(encodeURIComponent).join('/');
  const call = createCall(place);

  return {
    async collectionsBelow(path) {
      const body = JSON.stringify({ pageSize: COLLECTION_NAMES_MAX });
      const url = `${root}/${pathOf(path)}:listCollectionIds`;
      return collectionsSchema.parse(await call(url, { method: 'POST', body })).collectionIds;
    },
    async *documentsIn(collection) {
      let pageToken: string | undefined;
      do {
        const query = new URLSearchParams({
          pageSize: '300',
          showMissing: 'true',
          'mask.fieldPaths': 'state',
          ...(pageToken !== undefined && { pageToken }),
        });
        const page = pageSchema.parse(
          await call(`${root}/${pathOf(collection)}?${query.toString()}`),
        );
        yield page.documents.map(({ name }) => lastSegment(name));
        pageToken = page.nextPageToken === '' ? undefined : page.nextPageToken;
      } while (pageToken !== undefined);
    },
  };
}
