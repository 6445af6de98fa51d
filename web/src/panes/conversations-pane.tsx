import type { Row } from '#clients/typescript/src/index.ts';
import { count, counted, when } from '#web/figures.ts';
import type { App } from '#web/state/app.ts';
import { Button, IconButton, ProblemBar } from './controls.tsx';
import { endSearch, SearchField, SearchResults } from './search.tsx';

const stateTexts = {
  idle: undefined,
  running: 'Answering …',
  waiting: 'Waits for you',
  failed: 'No answer',
};

/** What goes on in a conversation, else what was said last. */
function Preview({ entry: { state, lastMessage, pendingCount } }: { entry: Row }) {
  const stateText = pendingCount > 0 ? 'Not sent yet' : stateTexts[state];
  const { role, deleted, preview } = lastMessage ?? {};
  const said = deleted ? 'Deleted message' : preview;
  return (
    <span class="one-line">
      {stateText && <span class="conversation-state" data-state={state} children={stateText} />}
      {stateText && said && ' · '}
      {said && (role === 'user' ? `You: ${said}` : said)}
    </span>
  );
}

/** As a menu: what was chosen closes it. */
function closeActions({ currentTarget }: { currentTarget: Element }): void {
  const menu = currentTarget.closest('details');
  menu?.querySelector('summary')?.focus();
  menu?.removeAttribute('open');
}

/** What can be done to a conversation; of one at a time. */
function Actions({ app, entry, name }: { app: App; entry: Row; name: string }) {
  const { id, archived, pinned } = entry;
  const { pin, archive, remove } = app.conversations;
  const pinText = pinned ? 'Unpin' : 'Pin';
  const archiveText = archived ? 'Unarchive' : 'Archive';
  return (
    <details class="conversation-actions small" name="conversation-actions">
      <summary class="icon-button" aria-label={`Actions: ${name}`} title="Actions">
        ⋯
      </summary>
      <p class="bar" onClick={closeActions}>
        <Button
          class="link"
          text={pinText}
          aria-label={`${pinText} conversation: ${name}`}
          onClick={() => void pin(id, !pinned)}
        />
        <Button
          class="link"
          text={archiveText}
          aria-label={`${archiveText} conversation: ${name}`}
          onClick={() => void archive(id, !archived)}
        />
        <Button
          class="link"
          text="Delete"
          aria-label={`Delete conversation: ${name}`}
          onClick={() => void remove(id)}
        />
      </p>
    </details>
  );
}

function Entry({ app, entry }: { app: App; entry: Row }) {
  const { id, activeTime, pinned, unreadCount } = entry;
  const name = app.nameOf(entry) ?? 'Untitled';
  const isOpen = app.open.value.id === id;
  const unread = app.isInView(id) ? 0 : unreadCount;
  return (
    <li class="conversation" data-open={isOpen} data-unread={unread > 0}>
      <Button
        class="conversation-name"
        aria-current={isOpen ? 'true' : undefined}
        onClick={() => app.select(id)}
      >
        <span class="conversation-line">
          <span class="one-line">{name}</span>
          {pinned && <span class="chip at-end">Pinned</span>}
          {unread > 0 && (
            <span class="unread figure at-end">
              {count(unread)}
              <span class="for-listeners"> unread</span>
            </span>
          )}
        </span>
        <span class="conversation-line quiet small">
          <Preview entry={entry} />
          <time class="at-end" dateTime={activeTime}>
            {when(new Date(activeTime))}
          </time>
        </span>
      </Button>
      <Actions app={app} entry={entry} name={name} />
    </li>
  );
}

/** What was deleted last, and the way back: it stays in the bin for a while. */
function Removed({ app }: { app: App }) {
  const { removed, takeBack } = app.conversations;
  const last = removed.value;
  if (!last) return null;
  return (
    <p class="note" role="status">
      <span class="one-line">Deleted: {last.name ?? 'Untitled'}</span>
      <Button class="link" text="Undo" onClick={() => void takeBack(last)} />
      <IconButton sign="✕" label="Dismiss" onClick={() => (removed.value = undefined)} />
    </p>
  );
}

export function ConversationsPane({ app }: { app: App }) {
  const { list, rows, hasMore, show, loadMore, problem, dismiss } = app.conversations;
  const { clear, standing } = app.search;
  const isArchive = list.value === 'archived';
  const unread = rows.value.filter((entry) => entry.unreadCount > 0 && !app.isInView(entry.id));
  return (
    <nav class="pane conversations" aria-label="Chats" onKeyDown={endSearch(app)}>
      <header class="bar">
        <img src="/icon.svg" alt="" width="24" height="24" />
        <h1>Recap</h1>
        <Button
          class="link small at-end"
          text={isArchive ? 'All chats' : 'Archive'}
          onClick={() => {
            clear();
            show(isArchive ? 'active' : 'archived');
          }}
        />
      </header>
      <Button class="button" text="New chat" onClick={() => app.startNew()} />
      <SearchField app={app} />
      <p class="for-listeners" role="status">
        {unread.length > 0 && `${counted(unread.length, 'chat')} with unread answers`}
      </p>
      {standing.value ? (
        <SearchResults app={app} search={standing.value} />
      ) : (
        <>
          {isArchive && <h2>Archive</h2>}
          {rows.value.length === 0 && (
            <p class="quiet">{isArchive ? 'Nothing is archived.' : 'No conversations yet.'}</p>
          )}
          <ul class="conversation-list">
            {rows.value.map((entry) => (
              <Entry key={entry.id} app={app} entry={entry} />
            ))}
          </ul>
          {hasMore.value && (
            <Button class="link" text="Show older" onClick={() => void loadMore()} />
          )}
        </>
      )}
      <Removed app={app} />
      <ProblemBar error={problem.value} dismiss={dismiss.value} />
    </nav>
  );
}
