import { inParallel } from '#functions/lib/promises.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import type { DocumentTree } from '../document-tree.ts';
import { lastSegment, readPages } from '../pages.ts';
import { parameterIn, type CollectionPattern, type Parameters } from './collection-pattern.ts';

/** Documents that are looked below side by side, and discussions that are imported so. */
const AT_ONCE = 8;
const IDS_PER_PAGE = 300;

/** Where the extension has written. */
export interface SourceDatabase {
  store: Pick<DocumentStore, 'get' | 'query'>;
  /** Absent: documents that are missing and have some below them are not found. */
  tree: DocumentTree | undefined;
}

/** A collection of the extension: one conversation. */
interface Discussion {
  collection: string;
  parameters: Parameters;
}

async function* idsIn({ store, tree }: SourceDatabase, collection: string) {
  if (tree) for await (const page of tree.documentsIn(collection)) yield page.map(({ id }) => id);
  else
    for await (const page of readPages(store, { collection, limit: IDS_PER_PAGE }))
      yield page.map(({ path }) => lastSegment(path));
}

/** Visits every collection of the pattern, several at once, and never knows more than a page of names of each level. */
export async function forEachDiscussion(
  source: SourceDatabase,
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
    for await (const ids of idsIn(source, path))
      await inParallel(ids, AT_ONCE, (id) =>
        descend(`${path}/${id}`, rest, { ...parameters, [name]: id }),
      );
  };
  await descend('', pattern.segments, {});
}
