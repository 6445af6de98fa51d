import type { SearchAllResult } from '#clients/typescript/src/index.ts';
import { counted, when } from '#web/figures.ts';
import type { App } from '#web/state/app.ts';
import type { Search } from '#web/state/search.ts';
import { Button, submit } from './controls.tsx';
import type { TargetedKeyboardEvent } from 'preact';

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });
const folded = (text: string): string =>
  text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** Whether one begins as the other does: mostly a form of it. */
const areAlike = (one: string, other: string): boolean =>
  one === other ||
  (Math.min(one.length, other.length) > 2 && (one.startsWith(other) || other.startsWith(one)));

/** A text with the words that are searched for. A heuristic: the service also finds forms such as `went` of `go`. */
function Marked({ text, q }: { text: string; q: string }) {
  const asked = [...segmenter.segment(q)].flatMap(({ segment, isWordLike }) =>
    isWordLike ? [folded(segment)] : [],
  );
  const isAsked = (word: string) => asked.some((each) => areAlike(folded(word), each));
  return [...segmenter.segment(text)].map(({ segment, index, isWordLike }) =>
    isWordLike && isAsked(segment) ? <mark key={index}>{segment}</mark> : segment,
  );
}

/** Where one searches all conversations, archived ones too. */
export const SearchField = ({ app: { search } }: { app: App }) => (
  <form role="search" onSubmit={submit(() => search.start())}>
    <input
      class="search-field"
      type="search"
      aria-label="Search all chats"
      placeholder="Search"
      enterkeyhint="search"
      maxLength={200}
      value={search.written.value}
      onInput={({ currentTarget: { value } }) => {
        if (value === '') search.clear();
        else search.written.value = value;
      }}
    />
  </form>
);

/** For `onKeyDown`: Escape leads from the results back to the field, and to the list. */
export const endSearch =
  ({ search }: App) =>
  ({ key, isComposing, currentTarget }: TargetedKeyboardEvent<HTMLElement>): void => {
    if (key !== 'Escape' || isComposing || !search.standing.value) return;
    currentTarget.querySelector('input')?.focus();
    search.clear();
  };

/** A message that was found, or a conversation whose title was. */
type Found = SearchAllResult['titles'][number] | SearchAllResult['hits'][number];

function Result({ app, q, found }: { app: App; q: string; found: Found }) {
  const { conversationId: id, title } = found;
  const hit = 'seq' in found ? found : undefined;
  return (
    <li class="conversation">
      <Button class="conversation-name" onClick={() => app.select(id, hit?.seq)}>
        <span class="conversation-line">
          <span class="one-line">
            <Marked text={app.nameOf({ id, title }) ?? 'Untitled'} q={q} />
          </span>
          {hit && (
            <time class="at-end quiet small" dateTime={hit.at} children={when(new Date(hit.at))} />
          )}
        </span>
        {hit && (
          <span class="snippet quiet small">
            {hit.role === 'user' && 'You: '}
            <Marked text={hit.snippet} q={q} />
          </span>
        )}
      </Button>
    </li>
  );
}

/** What a search has found: titles first, then messages, the best first. */
export function SearchResults({ app, search }: { app: App; search: Search }) {
  const { q, pages } = search;
  const hits = pages.flatMap((page) => page.hits);
  const found = [...pages.flatMap(({ titles }) => titles), ...hits];
  const unreached = pages
    .flatMap((page) => page.unreached)
    .map(({ conversationId: id, title, turns }) => {
      const name = app.nameOf({ id, title }) ?? 'Untitled';
      return turns === undefined ? name : `${name} (${counted(turns, 'older turn')})`;
    });
  const hasMore = pages.at(-1)?.nextPageToken !== undefined;
  const soFar = hasMore ? ' so far' : '';
  const status =
    hits.length > 0
      ? `${counted(hits.length, 'message')}${soFar}`
      : `No message${soFar} has these words.`;
  return (
    <div class="conversation-list search-results">
      <p class="quiet small" role="status" children={pages.length > 0 ? status : 'Searching …'} />
      <ul>
        {found.map((each, index) => (
          <Result key={index} app={app} q={q} found={each} />
        ))}
      </ul>
      {hasMore && <Button class="link" text="More" onClick={() => app.search.start(search)} />}
      {unreached.length > 0 && <p class="quiet small">Not searched: {unreached.join(', ')}</p>}
    </div>
  );
}
