import type { ConversationView } from '#shared/wire/resources/conversations.ts';
import { counted, when } from '#web/figures.ts';
import type { App } from '#web/state/app.ts';
import { Button, IconButton, ProblemBar } from './controls.tsx';

function Entry({ app, conversation }: { app: App; conversation: ConversationView }) {
  const { id, lastSeq, updateTime } = conversation;
  const name = app.nameOf(conversation) ?? 'Untitled';
  const isOpen = app.open.value.id === id;
  return (
    <li class="conversation" data-open={isOpen}>
      <Button
        class="conversation-name"
        aria-current={isOpen ? 'true' : undefined}
        onClick={() => app.select(id)}
      >
        <span class="one-line">{name}</span>
        <span class="quiet small">
          {counted(lastSeq, 'turn')} ·{' '}
          <time dateTime={updateTime}>{when(new Date(updateTime))}</time>
        </span>
      </Button>
      <IconButton
        sign="×"
        label="Delete conversation"
        aria-label={`Delete conversation: ${name}`}
        onClick={() => void app.remove(id)}
      />
    </li>
  );
}

/** What was deleted last, and the way back: it stays in the bin for a while. */
function Removed({ app }: { app: App }) {
  const { removed } = app.conversations;
  const last = removed.value;
  if (!last) return null;
  return (
    <p class="note" role="status">
      <span class="one-line">Deleted: {last.name ?? 'Untitled'}</span>
      <Button class="link" text="Undo" onClick={() => void app.takeBack()} />
      <IconButton sign="✕" label="Dismiss" onClick={() => (removed.value = undefined)} />
    </p>
  );
}

export function ConversationsPane({ app }: { app: App }) {
  const { entries, more, loadMore, problem } = app.conversations;
  return (
    <nav class="pane conversations" aria-label="Chats">
      <header class="bar">
        <img src="/icon.svg" alt="" width="24" height="24" />
        <h1>Recap</h1>
      </header>
      <Button class="button" text="New chat" onClick={() => app.startNew()} />
      {entries.value.length === 0 && <p class="quiet">No conversations yet.</p>}
      <ul class="conversation-list">
        {entries.value.map((conversation) => (
          <Entry key={conversation.id} app={app} conversation={conversation} />
        ))}
      </ul>
      {more.value !== undefined && (
        <Button class="link" text="Show older" onClick={() => void loadMore()} />
      )}
      <Removed app={app} />
      <ProblemBar problem={problem} />
    </nav>
  );
}
