import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { App } from '../../state/app.ts';
import type { OpenConversation } from '../../state/conversation.ts';
import { isOpen } from '../../state/live-turn.ts';

/** Enter ends a composition of an input method first; Safari tells of it by key code 229 alone. */
const sends = (event: KeyboardEvent): boolean =>
  event.key === 'Enter' && !event.shiftKey && !event.isComposing && event.keyCode !== 229;

/** Where a message is written. */
export function Composer({ app, conversation }: { app: App; conversation: OpenConversation }) {
  const texts = app.texts.value;
  const draft = useSignal('');
  const field = useRef<HTMLTextAreaElement>(null);
  const running = conversation.answers.live.value.find(isOpen);
  useEffect(() => field.current?.focus(), []);

  const send = (): void => {
    const text = draft.value.trim();
    if (text === '' || running) return;
    conversation.answers.ask({ kind: 'send', messageId: crypto.randomUUID(), text });
    draft.value = '';
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={field}
        rows={1}
        aria-label={texts.composer.label}
        placeholder={texts.composer.placeholder}
        title={texts.composer.hint}
        value={draft.value}
        onInput={({ currentTarget }) => (draft.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (!sends(event)) return;
          event.preventDefault();
          send();
        }}
      />
      {running ? (
        <button
          type="button"
          class="button stop"
          disabled={running.turnId === undefined}
          onClick={() =>
            void conversation.attempt(() => conversation.api.cancel(running.turnId ?? ''))
          }
        >
          {texts.transcript.stop}
        </button>
      ) : (
        <button type="submit" class="button send" disabled={draft.value.trim() === ''}>
          {texts.composer.send}
        </button>
      )}
    </form>
  );
}
