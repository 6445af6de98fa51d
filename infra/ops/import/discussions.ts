import { inParallel } from '#functions/lib/promises.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { readPages } from '#shared/store/many-documents.ts';
import type { DocumentTree } from '../document-tree.ts';
import { parameterIn, type CollectionPattern, type Parameters } from './collection-pattern.ts';
import {
  compareMessages,
  readSourceMessage,
  type SkippedReason,
  type SourceFields,
  type SourceMessage,
} from './source-message.ts';

/** Documents that are looked below side by side, and discussions that are imported so. */
const AT_ONCE = 4;
/** Documents of one read; each may have a MiB. */
const DOCUMENTS_PER_PAGE = 50;

/** Where the extension has written. */
export interface SourceDatabase {
  store: Pick<DocumentStore, 'get' | 'query'>;
  tree: DocumentTree;
}

/** A collection of the extension: one conversation. */
interface Discussion {
  collection: string;
  parameters: Parameters;
}

/** Visits every collection of the pattern, several at once, and never knows more than a page of names of each level. */
export async function forEachDiscussion(
  { tree }: SourceDatabase,
  pattern: CollectionPattern,
  visit: (discussion: Discussion) => Promise<void>,
): Promise<void> {
  const descend = async (
    path: string,
    segments: readonly string[],
    parameters: Parameters,
  ): Promise<void> => {
    const [segment, ...rest] = segments;
    if (segment === undefined) return visit({ collection: path, parameters });
    const name = parameterIn(segment);
    const below = path === '' ? segment : `${path}/${segment}`;
    if (name === undefined) return descend(below, rest, parameters);
    for await (const ids of tree.documentsIn(path))
      await inParallel(ids, AT_ONCE, (id) =>
        descend(`${path}/${id}`, rest, { ...parameters, [name]: id }),
      );
  };
  await descend('', pattern.segments, {});
}

/** What a discussion holds, in the order of the extension. */
interface ReadDiscussion {
  messages: readonly SourceMessage[];
  /** Documents that become no turn, by path. */
  skipped: ReadonlyMap<string, SkippedReason>;
}

/** Reads a collection of the extension; of one with more than `mostMessages` not all. */
export async function readDiscussion(
  { store }: SourceDatabase,
  collection: string,
  { names, mostMessages }: { names: SourceFields; mostMessages: number },
): Promise<ReadDiscussion> {
  const messages: SourceMessage[] = [];
  const skipped = new Map<string, SkippedReason>();
  for await (const page of readPages(store, { collection, limit: DOCUMENTS_PER_PAGE })) {
    for (const document of page) {
      const read = readSourceMessage(document, names);
      if ('skipped' in read) skipped.set(document.path, read.skipped);
      else messages.push(read);
    }
    if (messages.length > mostMessages) break;
  }
  return { messages: messages.toSorted(compareMessages), skipped };
}
