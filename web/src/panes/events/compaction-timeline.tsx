import type { App } from '../../state/app.ts';
import type { OpenConversation } from '../../state/conversation.ts';

/** Compactions, the newest first: what is under way, then what has ended and how. */
export function CompactionTimeline({
  app,
  conversation,
}: {
  app: App;
  conversation: OpenConversation;
}) {
  const texts = app.texts.value.events;
  const records = conversation.compactions.value;
  if (records.length === 0) return <p class="quiet">{texts.none}</p>;
  return (
    <ol class="timeline">
      {records.map((record) => (
        <li key={`${record.jobId}-${record.finishedAt}`} data-state={record.state}>
          {record.message}
        </li>
      ))}
    </ol>
  );
}
