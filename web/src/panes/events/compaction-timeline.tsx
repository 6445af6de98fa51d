import type { App } from '#web/state/app.ts';
import { isUnderWay } from '#web/state/context/compaction-steps.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { CompactionUnderWay } from './compaction-under-way.tsx';
import { PastCompaction } from './past-compaction.tsx';

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
  const isQuiet = records.length === 0 && !isUnderWay(conversation.context.value?.compaction);
  return (
    <>
      <CompactionUnderWay app={app} conversation={conversation} />
      {isQuiet && (
        <p class="quiet">
          {texts.none} {texts.noneHint}
        </p>
      )}
      <ol class="timeline">
        {records.map((record) => (
          <PastCompaction
            key={`${record.jobId}-${record.finishedAt}`}
            app={app}
            conversation={conversation}
            record={record}
          />
        ))}
      </ol>
      {conversation.moreCompactions.value !== undefined && (
        <button
          type="button"
          class="link"
          onClick={() => void conversation.attempt(() => conversation.loadMoreCompactions())}
        >
          {texts.more}
        </button>
      )}
    </>
  );
}
