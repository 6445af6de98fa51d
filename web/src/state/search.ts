import { signal } from '@preact/signals';
import type { Recap, SearchAllResult } from '#clients/typescript/src/index.ts';
import type { createAttempts } from './attempts.ts';

export interface Search {
  q: string;
  /** Those that were read; none: the first is on its way. */
  pages: readonly SearchAllResult[];
}

/** The search of all conversations. */
export function createSearch(
  recap: Pick<Recap, 'search'>,
  attempt: ReturnType<typeof createAttempts>['attempt'],
) {
  /** What the field has. */
  const written = signal('');
  /** The search that stands; undefined: none. */
  const standing = signal<Search>();

  async function load(search: Search): Promise<void> {
    const { q, pages } = search;
    const page = await attempt(() => recap.search(q, pages.at(-1)?.nextPageToken));
    // Something else is searched for by now, or the page was asked for twice.
    if (standing.value !== search) return;
    if (page) standing.value = { q, pages: [...pages, page] };
    else if (pages.length === 0) standing.value = undefined;
  }

  /** Searches for what is written, or goes on with older conversations. */
  function start(from: Search = { q: written.value.trim(), pages: [] }): void {
    standing.value = from.q === '' ? undefined : from;
    if (standing.value) void load(from);
  }

  const clear = (): void => {
    written.value = '';
    standing.value = undefined;
  };

  return { written, standing, start, clear };
}
