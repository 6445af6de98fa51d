import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { OpenConversation } from '#web/state/conversation.ts';
import { isOpen, partsText, type LiveTurn } from '#web/state/live-turn.ts';
import { newSentences } from './text-pieces.ts';

/** Sentences that stay in the log. */
const KEPT_MAX = 30;

/** What goes on after the app has answered the model begins a text of its own. */
const answerIdOf = ({ request }: LiveTurn): string =>
  request.kind === 'results'
    ? `${request.messageId} ${request.results[0]?.callId}`
    : request.messageId;

/** The answer for who listens: sentence by sentence, in a log that nobody sees. */
export function Announcer({ conversation }: { conversation: OpenConversation }) {
  const log = useSignal<readonly { key: string; text: string }[]>([]);
  const announcedLengths = useRef(new Map<string, number>());
  const turns = conversation.answers.live.value;
  useEffect(() => {
    for (const turn of turns) {
      const answerId = answerIdOf(turn);
      const { sentences, length } = newSentences(partsText(turn.parts), {
        length: announcedLengths.current.get(answerId) ?? 0,
        isWhole: !isOpen(turn),
      });
      announcedLengths.current.set(answerId, length);
      const added = sentences.map((text, at) => ({ key: `${answerId}-${length}-${at}`, text }));
      if (added.length > 0) log.value = [...log.value, ...added].slice(-KEPT_MAX);
    }
  }, [turns]);
  return (
    <div class="for-listeners" role="log" aria-live="polite" aria-label="Answer">
      {log.value.map(({ key, text }) => (
        <p key={key}>{text}</p>
      ))}
    </div>
  );
}
