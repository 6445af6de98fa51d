import type { ConversationView } from '#shared/wire/resources/conversations.ts';
import type { App } from '#web/state/app.ts';
import { ProblemBar } from '../problem-bar.tsx';
import { SettingsBar } from './settings-bar.tsx';

function Entry({ app, conversation }: { app: App; conversation: ConversationView }) {
  const texts = app.texts.value.conversations;
  const { id, lastSeq, updateTime } = conversation;
  const name = app.nameOf(conversation) ?? texts.untitled;
  const { count, when } = app.figures.value;
  const isOpen = app.open.value.id === id;
  return (
    <li class="conversation" data-open={isOpen}>
      <button
        type="button"
        class="conversation-name"
        aria-current={isOpen ? 'true' : undefined}
        onClick={() => app.select(id)}
      >
        <span class="conversation-title">{name}</span>
        <span class="conversation-turns">
          {texts.turns(lastSeq, count(lastSeq))} ·{' '}
          <time dateTime={updateTime}>{when(new Date(updateTime), new Date())}</time>
        </span>
      </button>
      <button
        type="button"
        class="icon-button conversation-remove"
        aria-label={`${texts.remove}: ${name}`}
        title={texts.remove}
        onClick={() => void app.remove(id)}
      >
        ×
      </button>
    </li>
  );
}

/** What was deleted last, and the way back: it stays in the bin for a while. */
function Removed({ app }: { app: App }) {
  const { conversations: texts, problems } = app.texts.value;
  const last = app.removed.value;
  if (!last) return null;
  return (
    <p class="removed" role="status">
      <span>{texts.removed(last.name ?? texts.untitled)}</span>
      <button type="button" class="link" onClick={() => void app.takeBack()}>
        {texts.takeBack}
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label={problems.dismiss}
        title={problems.dismiss}
        onClick={() => (app.removed.value = undefined)}
      >
        ✕
      </button>
    </p>
  );
}

export function ConversationsPane({ app }: { app: App }) {
  const { panes, product, conversations: texts } = app.texts.value;
  const conversations = app.conversations.entries.value;
  return (
    <nav class="pane conversations" aria-label={panes.conversations}>
      <header class="brand">
        <img src="/icon.svg" alt="" width="24" height="24" />
        <h1>{product}</h1>
      </header>
      <button type="button" class="button new-chat" onClick={() => app.startNew()}>
        {texts.new}
      </button>
      {conversations.length === 0 && <p class="quiet">{texts.empty}</p>}
      <ul class="conversation-list">
        {conversations.map((conversation) => (
          <Entry key={conversation.id} app={app} conversation={conversation} />
        ))}
      </ul>
      {app.conversations.more.value !== undefined && (
        <button type="button" class="link" onClick={() => void app.conversations.loadMore()}>
          {texts.more}
        </button>
      )}
      <Removed app={app} />
      <ProblemBar app={app} problem={app.conversations.problem} />
      <SettingsBar app={app} />
    </nav>
  );
}
