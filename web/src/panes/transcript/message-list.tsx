import { useEffect, useRef } from 'preact/hooks';
import type { App } from '../../state/app.ts';
import type { OpenConversation } from '../../state/conversation.ts';
import { seqOf } from '../../state/live-turn.ts';
import { findTurn } from '../../state/turn-pages.ts';
import { LiveRow } from './live-row.tsx';
import { StoredRow } from './stored-row.tsx';

/** The whole transcript, of which the visible turns are in the document. */
export function MessageList({ app, conversation }: { app: App; conversation: OpenConversation }) {
  const { transcript, answers } = conversation;
  const texts = app.texts.value.transcript;
  const box = useRef<HTMLDivElement>(null);
  const turnCount = transcript.turnCount.value;
  const liveSeqs = new Set(answers.live.value.map((turn) => seqOf(turn)));
  useEffect(() => {
    if (turnCount > 0) void conversation.attempt(() => transcript.need(turnCount - 40, turnCount));
  }, [turnCount]);
  useEffect(
    () => box.current?.scrollTo({ top: box.current.scrollHeight }),
    [answers.live.value, turnCount],
  );
  const first = Math.max(1, turnCount - 40);
  const rows = Array.from({ length: Math.max(0, turnCount - first + 1) }, (_, at) => first + at);
  return (
    <div class="messages" ref={box} role="log" aria-label={texts.label} tabIndex={0}>
      {rows
        .filter((seq) => !liveSeqs.has(seq))
        .map((seq) => (
          <StoredRow
            key={seq}
            app={app}
            conversation={conversation}
            turn={findTurn(transcript.pages.value, seq)}
          />
        ))}
      {answers.live.value.map((turn) => (
        <LiveRow key={turn.request.messageId} app={app} conversation={conversation} turn={turn} />
      ))}
    </div>
  );
}
