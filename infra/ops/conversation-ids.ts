import { CONVERSATIONS } from '#shared/conversation/documents/paths.ts';
import { lastSegment, readPages } from './pages.ts';
import type { Project } from './project.ts';

const PAGE = 200;

interface Walk {
  after?: string | undefined;
  limit: number;
  /** Also ids under which no conversation document stands, and something below. */
  isWithOrphans?: boolean;
}

async function* storedIds({ chat }: Project, after: string | undefined) {
  const query = { collection: CONVERSATIONS, limit: PAGE, after };
  for await (const page of readPages(chat.store, query))
    yield page.map(({ path }) => lastSegment(path));
}

/** The tree has no place to go on from but its own: what comes before is left out. */
async function* namedIds({ tree }: Project, after: string | undefined) {
  if (!tree) return;
  for await (const page of tree.documentsIn(CONVERSATIONS))
    yield page.map(({ id }) => id).filter((id) => after === undefined || id > after);
}

/** Ids of conversations in their order, page by page, never all at once. */
export async function* conversationIds(
  project: Project,
  { after, limit, isWithOrphans }: Walk,
): AsyncGenerator<string[]> {
  let left = limit;
  const pages = isWithOrphans ? namedIds(project, after) : storedIds(project, after);
  for await (const ids of pages) {
    const page = ids.slice(0, left);
    left -= page.length;
    if (page.length > 0) yield page;
    if (left === 0) return;
  }
}
