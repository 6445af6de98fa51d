import type { ConversationView } from '../../../../shared/wire/responses/conversations.ts';
import type { App } from '../../state/app.ts';
import { ProblemBar } from '../problem-bar.tsx';
import { SettingsBar } from './settings-bar.tsx';

function Entry({ app, conversation }: { app: App; conversation: ConversationView }) {
  const texts = app.texts.value.conversations;
  const { id, title, lastSeq } = conversation;
  const isOpen = app.open.value.id === id;
  return (
    <li class="conversation" data-open={isOpen}>
      <button
        type="button"
        class="conversation-name"
        aria-current={isOpen ? 'true' : undefined}
        onClick={() => app.select(id)}
      >
        <span class="conversation-title">{title ?? texts.untitled}</span>
        <span class="conversation-turns">
          {texts.turns(lastSeq, app.figures.value.count(lastSeq))}
        </span>
      </button>
      <button
        type="button"
        class="icon-button conversation-remove"
        aria-label={`${texts.remove}: ${title ?? id}`}
        title={texts.remove}
        onClick={() => void app.remove(id)}
      >
        ×
      </button>
    </li>
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
      <ProblemBar app={app} problem={app.conversations.problem} />
      <SettingsBar app={app} />
    </nav>
  );
}
