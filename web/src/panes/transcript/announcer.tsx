import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ConversationProps } from '#web/state/app.ts';
import { isOpen, partsText, type LiveTurn } from '#web/state/answer/live-turn.ts';
import { newSentences } from '#web/state/answer/text-pieces.ts';

/** Sentences that stay in the log. */
const KEPT_MAX = 30;

/** What goes on after the app has answered the model begins a text of its own. */
const answerIdOf = ({ request }: LiveTurn): string =>
  request.kind === 'results'
    ? `${request.messageId} ${request.results[0]?.callId}`
    : request.messageId;

/** The answer for who listens: sentence by sentence, in a log that nobody sees. */
export function Announcer({ app, conversation }: ConversationProps) {
  const log = useSignal<readonly { key: string; text: string }[]>([]);
  const said = useRef(new Map<string, number>());
  const turns = conversation.answers.live.value;
  useEffect(() => {
    for (const turn of turns) {
      const answerId = answerIdOf(turn);
      const found = newSentences(partsText(turn.parts), {
        length: said.current.get(answerId) ?? 0,
        isWhole: !isOpen(turn),
        language: app.settings.language.value,
      });
      said.current.set(answerId, found.length);
      const keyOf = (at: number): string => `${answerId}-${found.length}-${at}`;
      const added = found.sentences.map((text, at) => ({ key: keyOf(at), text }));
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
