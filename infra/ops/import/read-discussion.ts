import type { StoredDocument } from '#shared/ports/ports.ts';
import { readPages } from '../pages.ts';
import type { SourceDatabase } from './find-discussions.ts';
import {
  comparePlaces,
  readSourceMessage,
  type SkippedReason,
  type SourceFields,
  type SourceMessage,
  type SourcePlace,
} from './source-message.ts';

/** Documents of one read; each may have a MiB. */
const DOCUMENTS_PER_PAGE = 50;

/** A document was deleted or lost its answer between two readings. */
export class DiscussionChangedError extends Error {
  constructor(collection: string) {
    super(`${collection} changed while it was read`);
    this.name = 'DiscussionChangedError';
  }
}

/** What a discussion holds, in its order. */
export interface ReadDiscussion {
  places: readonly SourcePlace[];
  skipped: ReadonlyMap<string, SkippedReason>;
  /**
   * The messages from place `first` on, counted from 1; read again where they were too many to be kept. Throws
   * DiscussionChangedError.
   */
  messages(first: number): AsyncIterable<SourceMessage>;
}

const isMessage = (read: ReturnType<typeof readSourceMessage>): read is SourceMessage =>
  !('skipped' in read);

const place = ({ path, order, createTime }: SourceMessage): SourcePlace => ({
  path,
  order,
  createTime,
});

/**
 * Reads a collection of the extension page by page. Of one that has more than a page only the order is kept, and its
 * texts are read a second time, page by page, when they are written: so the longest discussion takes no more memory than
 * the names of its documents. `mostDocuments`: reading ends behind them.
 */
export async function readDiscussion(
  { store }: SourceDatabase,
  collection: string,
  { names, mostDocuments }: { names: SourceFields; mostDocuments: number },
): Promise<ReadDiscussion> {
  const read = (document: StoredDocument) => readSourceMessage(document, names);
  const places: SourcePlace[] = [];
  const skipped = new Map<string, SkippedReason>();
  let kept: SourceMessage[] | undefined;
  for await (const page of readPages(store, { collection, limit: DOCUMENTS_PER_PAGE })) {
    const found = page.map(read);
    for (const one of found)
      if (isMessage(one)) places.push(place(one));
      else skipped.set(one.path, one.skipped);
    kept = places.length + skipped.size === page.length ? found.filter(isMessage) : undefined;
    if (places.length > mostDocuments) break;
  }
  places.sort(comparePlaces);
  kept?.sort(comparePlaces);

  async function* messages(first: number): AsyncGenerator<SourceMessage> {
    if (kept) yield* kept.slice(first - 1);
    else
      for (let from = first - 1; from < places.length; from += DOCUMENTS_PER_PAGE) {
        const paths = places.slice(from, from + DOCUMENTS_PER_PAGE).map(({ path }) => path);
        const documents = await store.get(paths);
        for (const document of documents) {
          const one = document && read(document);
          if (!one || !isMessage(one)) throw new DiscussionChangedError(collection);
          yield one;
        }
      }
  }
  return { places, skipped, messages };
}
