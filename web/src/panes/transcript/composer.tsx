import { useEffect, useRef } from 'preact/hooks';
import { isOpen } from '#web/state/answer/live-turn.ts';
import type { TranscriptProps } from './transcript-props.ts';

/** Enter ends a composition of an input method first; Safari tells of it by key code 229 alone. */
const sends = (event: KeyboardEvent): boolean =>
  event.key === 'Enter' && !event.shiftKey && !event.isComposing && event.keyCode !== 229;

/**
 * Who came to write may write at once; a fault or the player that opens a conversation leaves the keyboard where it
 * is, and a phone is not covered by its keyboard.
 */
function isFocusWelcome(): boolean {
  const focused = document.activeElement;
  const isFree =
    !focused || focused === document.body || focused.closest('.conversations') !== null;
  return isFree && matchMedia('(pointer: fine)').matches;
}

function SendButton({ app, conversation, draft }: TranscriptProps) {
  const texts = app.texts.value;
  const running = conversation.answers.live.value.find(isOpen);
  if (!running)
    return (
      <button type="submit" class="button primary" disabled={draft.text.value.trim() === ''}>
        {texts.composer.send}
      </button>
    );
  const { turnId } = running;
  return (
    <button
      type="button"
      class="button stop"
      disabled={turnId === undefined}
      onClick={() => {
        if (turnId !== undefined) void conversation.attempt(() => conversation.api.cancel(turnId));
      }}
    >
      {texts.transcript.stop}
    </button>
  );
}

/** Where a message is written. */
export function Composer({ app, conversation, draft }: TranscriptProps) {
  const texts = app.texts.value;
  const { text: written, edited } = draft;
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (edited.value !== undefined || isFocusWelcome()) field.current?.focus();
  }, [edited.value]);

  const send = (): void => {
    const text = written.value.trim();
    if (text === '' || conversation.answers.live.value.some(isOpen)) return;
    const messageId = crypto.randomUUID();
    conversation.answers.ask(
      edited.value === undefined
        ? { kind: 'send', messageId, text }
        : { kind: 'edit', messageId, text, editedId: edited.value.messageId },
    );
    written.value = '';
    edited.value = undefined;
  };

  const cancelEdit = (): void => {
    edited.value = undefined;
    written.value = '';
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {edited.value !== undefined && (
        <p class="composer-edit" role="status">
          {texts.transcript.editing(app.figures.value.count(edited.value.seq))}
          <button type="button" class="link" onClick={cancelEdit}>
            {texts.transcript.cancelEdit}
          </button>
        </p>
      )}
      <textarea
        ref={field}
        rows={1}
        aria-label={texts.composer.label}
        placeholder={texts.composer.placeholder}
        title={texts.composer.hint}
        value={written.value}
        onInput={({ currentTarget }) => (written.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && edited.value !== undefined) cancelEdit();
          if (!sends(event)) return;
          event.preventDefault();
          send();
        }}
      />
      <SendButton app={app} conversation={conversation} draft={draft} />
    </form>
  );
}
