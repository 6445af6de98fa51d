import { useEffect, useRef } from 'preact/hooks';
import { count } from '#web/figures.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { isOpen } from '#web/state/live-turn.ts';
import { Button, submit } from '../controls.tsx';

/** Enter ends a composition of an input method first; Safari tells of it by key code 229 alone. */
const sends = (event: KeyboardEvent): boolean =>
  event.key === 'Enter' && !event.shiftKey && !event.isComposing && event.keyCode !== 229;

/** Who came to write may write at once; a phone is not covered by its keyboard. */
function isFocusWelcome(): boolean {
  const focused = document.activeElement;
  const isFree =
    !focused || focused === document.body || focused.closest('.conversations') !== null;
  return isFree && matchMedia('(pointer: fine)').matches;
}

interface ComposerProps {
  conversation: OpenConversation;
}

function SendButton({ conversation }: ComposerProps) {
  const running = conversation.answers.live.value.find(isOpen);
  if (!running)
    return (
      <Button
        type="submit"
        class="button primary"
        text="Send"
        disabled={conversation.draft.text.value.trim() === ''}
      />
    );
  const { turnId } = running;
  return (
    <Button
      class="button"
      text="Stop"
      disabled={turnId === undefined}
      onClick={() => {
        if (turnId !== undefined) void conversation.attempt(() => conversation.api.cancel(turnId));
      }}
    />
  );
}

function clear({ draft }: OpenConversation): void {
  draft.text.value = '';
  draft.edited.value = undefined;
}

/** Sends what is written, unless that is nothing or an answer is on its way. */
function send(conversation: OpenConversation): void {
  const { answers, draft } = conversation;
  const text = draft.text.value.trim();
  if (text === '' || answers.live.value.some(isOpen)) return;
  const messageId = crypto.randomUUID();
  const editedId = draft.edited.value?.messageId;
  answers.ask(
    editedId === undefined
      ? { kind: 'send', messageId, text }
      : { kind: 'edit', messageId, text, editedId },
  );
  clear(conversation);
}

/** Where a message is written. */
export function Composer({ conversation }: ComposerProps) {
  const { text: written, edited } = conversation.draft;
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (edited.value !== undefined || isFocusWelcome()) field.current?.focus();
  }, [edited.value]);
  return (
    <form class="composer bar" onSubmit={submit(() => send(conversation))}>
      {edited.value !== undefined && (
        <p class="composer-edit quiet small" role="status">
          You change turn {count(edited.value.seq)}: what you send takes its place and that of all
          that follows. <Button class="link" text="Cancel" onClick={() => clear(conversation)} />
        </p>
      )}
      <textarea
        ref={field}
        rows={1}
        aria-label="Message"
        placeholder="Write a message"
        title="Enter sends, Shift+Enter makes a new line"
        value={written.value}
        onInput={({ currentTarget }) => (written.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && edited.value !== undefined) clear(conversation);
          if (!sends(event)) return;
          event.preventDefault();
          send(conversation);
        }}
      />
      <SendButton conversation={conversation} />
    </form>
  );
}
