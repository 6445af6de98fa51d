import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { App } from '../../state/app.ts';
import type { OpenConversation } from '../../state/conversation.ts';
import { isOpen, textOf } from '../../state/live-turn.ts';
import { newSentences } from '../../state/sentences.ts';

/** Sentences that stay in the log. */
const KEPT_MAX = 30;

/** The answer for who listens: sentence by sentence, in a log that nobody sees. */
export function Announcer({ app, conversation }: { app: App; conversation: OpenConversation }) {
  const log = useSignal<readonly { key: string; text: string }[]>([]);
  const said = useRef(new Map<string, number>());
  const turns = conversation.answers.live.value;
  useEffect(() => {
    for (const turn of turns) {
      const { messageId } = turn.request;
      const found = newSentences(textOf(turn.parts), {
        length: said.current.get(messageId) ?? 0,
        isWhole: !isOpen(turn),
        language: app.settings.language.value,
      });
      said.current.set(messageId, found.length);
      const added = found.sentences.map((text, at) => ({
        key: `${messageId}-${found.length}-${at}`,
        text,
      }));
      if (added.length > 0) log.value = [...log.value, ...added].slice(-KEPT_MAX);
    }
  }, [turns]);
  return (
    <div
      class="for-listeners"
      role="log"
      aria-live="polite"
      aria-label={app.texts.value.transcript.model}
    >
      {log.value.map(({ key, text }) => (
        <p key={key}>{text}</p>
      ))}
    </div>
  );
}
