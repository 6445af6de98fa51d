import type { ConversationProps } from '#web/state/app.ts';
import { isUnderWay, stages } from '#web/state/context/compaction-steps.ts';
import { nameIn } from '#web/text/languages.ts';
import { Button } from '../controls.tsx';
import { PastCompaction } from './past-compaction.tsx';

/** The compaction that waits or runs, stage by stage. */
function CompactionUnderWay({ app, conversation }: ConversationProps) {
  const status = conversation.context.value?.compaction;
  if (!status || !isUnderWay(status)) return null;
  const { jobId, state, trigger, message } = status;
  const texts = app.texts.value.events;
  const reached = stages.findIndex((stage) => stage === state);
  return (
    <section class="under-way" aria-label={texts.underWay} aria-live="polite">
      <header>
        <strong>{texts.underWay}</strong>
        {trigger !== undefined && <span class="quiet">{nameIn(texts.trigger, trigger)}</span>}
        {jobId !== undefined && (
          <Button
            class="link"
            text={texts.stop}
            onClick={() => void conversation.change(() => conversation.api.cancelCompaction(jobId))}
          />
        )}
      </header>
      <ol class="stages">
        {stages.map((stage, at) => (
          <li
            key={stage}
            data-reached={at <= reached}
            aria-current={at === reached ? 'step' : undefined}
          >
            {texts.state[stage]}
          </li>
        ))}
      </ol>
      {message !== undefined && <p class="quiet">{message}</p>}
    </section>
  );
}

/** Compactions, the newest first: what is under way, then what has ended and how. */
export function CompactionTimeline({ app, conversation }: ConversationProps) {
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
        <Button
          class="link"
          text={texts.more}
          onClick={() => void conversation.attempt(() => conversation.loadMoreCompactions())}
        />
      )}
    </>
  );
}
