import type { ConversationView } from '#shared/wire/resources/conversations.ts';
import type { App } from '#web/state/app.ts';
import { themes } from '#web/state/settings.ts';
import { languages, selectTexts } from '#web/text/languages.ts';
import { Button, Choice, IconButton, ProblemBar } from '../controls.tsx';

function Entry({ app, conversation }: { app: App; conversation: ConversationView }) {
  const texts = app.texts.value.conversations;
  const { id, lastSeq, updateTime } = conversation;
  const name = app.nameOf(conversation) ?? texts.untitled;
  const { count, when } = app.figures.value;
  const isOpen = app.open.value.id === id;
  return (
    <li class="conversation" data-open={isOpen}>
      <Button
        class="conversation-name"
        aria-current={isOpen ? 'true' : undefined}
        onClick={() => app.select(id)}
      >
        <span class="conversation-title">{name}</span>
        <span class="conversation-turns">
          {texts.turns(lastSeq, count(lastSeq))} ·{' '}
          <time dateTime={updateTime}>{when(new Date(updateTime), new Date())}</time>
        </span>
      </Button>
      <IconButton
        class="icon-button conversation-remove"
        sign="×"
        label={texts.remove}
        aria-label={`${texts.remove}: ${name}`}
        onClick={() => void app.remove(id)}
      />
    </li>
  );
}

/** What was deleted last, and the way back: it stays in the bin for a while. */
function Removed({ app }: { app: App }) {
  const { conversations: texts, problems } = app.texts.value;
  const { removed } = app.conversations;
  const last = removed.value;
  if (!last) return null;
  return (
    <p class="removed" role="status">
      <span>{texts.removed(last.name ?? texts.untitled)}</span>
      <Button class="link" text={texts.takeBack} onClick={() => void app.takeBack()} />
      <IconButton sign="✕" label={problems.dismiss} onClick={() => (removed.value = undefined)} />
    </p>
  );
}

/** Language and colours. */
function SettingsBar({ app }: { app: App }) {
  const texts = app.texts.value;
  const { language, theme } = app.settings;
  return (
    <footer class="settings">
      <Choice
        aria-label={texts.languageLabel}
        value={language.value}
        options={languages}
        nameOf={(known) => selectTexts(known).languageName}
        onChoose={(chosen) => (language.value = chosen)}
      />
      <Choice
        aria-label={texts.theme.label}
        value={theme.value}
        options={themes}
        nameOf={(known) => texts.theme[known]}
        onChoose={(chosen) => (theme.value = chosen)}
      />
    </footer>
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
      <Button class="button new-chat" text={texts.new} onClick={() => app.startNew()} />
      {conversations.length === 0 && <p class="quiet">{texts.empty}</p>}
      <ul class="conversation-list">
        {conversations.map((conversation) => (
          <Entry key={conversation.id} app={app} conversation={conversation} />
        ))}
      </ul>
      {app.conversations.more.value !== undefined && (
        <Button class="link" text={texts.more} onClick={() => void app.conversations.loadMore()} />
      )}
      <Removed app={app} />
      <ProblemBar app={app} problem={app.conversations.problem} />
      <SettingsBar app={app} />
    </nav>
  );
}
